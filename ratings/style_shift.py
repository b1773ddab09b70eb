"""How far each rating moves under style control, with an interval that knows both fits share their votes."""

from __future__ import annotations

import numpy as np
from scipy.sparse import hstack

from ratings.bradley_terry import Fit
from ratings.cluster_runs import Labels, consecutive
from ratings.clusters import VoteScores, sparse_scores
from ratings.newton import Matrix, Vector, gauge, generalised_inverse
from ratings.uncertainty import Covariance

FEW_CLUSTERS = 4_096
"""Up to so many clusters their scores are full matrices: each holds votes on most competitors."""


def shift_deviations(
    plain: Fit, plain_scores: VoteScores, styled: Fit, styled_scores: VoteScores, covariance: Covariance
) -> Vector:
    """Standard errors (K,) of θ_plain − θ_styled from the paired influence H_p⁻U_p − [H_s⁻U_s]_θ per cluster.

    CR1 by each dimension of `covariance`; two-way with the cell as intersection, never below a one-way term.
    """
    n = len(styled_scores.rows)
    pair = (plain, plain_scores, styled, styled_scores)
    dimensions = covariance.dimensions
    if not dimensions:
        return _deviations(_difference(*pair, np.arange(n), n))
    terms = [_difference(*pair, d.labels, d.count) * d.count / (d.count - 1) for d in dimensions]
    if len(terms) == 1:
        return _deviations(terms[0])
    labels, count = consecutive(dimensions[0].labels * dimensions[1].count + dimensions[1].labels)
    return _deviations(terms[0] + terms[1] - _difference(*pair, labels, count), *terms)


def style_contribution(styled: Fit) -> Vector:
    """(XᵀWX)⁻XᵀWZγ̂ (K,), in log-odds: what style adds to each rating when the models carry it.

    The rest of a shift is the non-collapsibility of odds: covariates that have nothing to do with the models
    stretch ratings too.
    """
    k = styled.n_competitors
    component = styled.graph.component
    strengths = generalised_inverse(styled.hessian[:k, :k], gauge(component, 0))
    contribution: Vector = strengths @ styled.hessian[:k, k:] @ styled.coefficients
    return contribution


def _deviations(*variances: Vector) -> Vector:
    deviations: Vector = np.sqrt(np.maximum(np.max(variances, axis=0), 0))
    return deviations


def _difference(
    plain: Fit,
    plain_scores: VoteScores,
    styled: Fit,
    styled_scores: VoteScores,
    labels: Labels,
    count: int,
) -> Vector:
    """Variances (K,) of the difference by clusters, CR0."""
    k = plain.n_competitors
    rows = styled_scores.rows
    none = np.zeros((0, len(rows)))
    u_plain = sparse_scores(plain_scores.rows, plain_scores.residual, none, labels, count)
    u_styled = sparse_scores(rows, styled_scores.residual, styled_scores.residual * rows.z, labels, count)
    if count <= FEW_CLUSTERS:
        full = np.hstack([u_plain.toarray(), u_styled.toarray()])
        meat = full.T @ full
    else:
        both = hstack([u_plain, u_styled]).tocsr()
        meat = (both.T @ both).toarray()
    spread: Matrix = np.hstack([plain.bread, -styled.bread[:k]])
    variance: Vector = np.einsum("ij,ij->i", spread @ meat, spread)
    return variance
