"""How far each rating moves under style control, with an interval that knows both fits share their votes."""

from __future__ import annotations

import numpy as np

from ratings.bradley_terry import Fit
from ratings.clusters import VoteScores
from ratings.newton import Vector, gauge, generalised_inverse
from ratings.paired_influence import Influence, SharedDimension, paired_variances
from ratings.uncertainty import Covariance


def shift_deviations(
    plain: Fit, plain_scores: VoteScores, styled: Fit, styled_scores: VoteScores, covariance: Covariance
) -> Vector:
    """Standard errors (K,) of θ_plain − θ_styled from the paired influence H_p⁻U_p − [H_s⁻U_s]_θ per cluster.

    CR1 by each dimension of `covariance`; two-way with the cell as intersection, never below a one-way term.
    """
    rows = styled_scores.rows
    pair = (
        Influence(plain_scores.residual, plain.bread),
        Influence(styled_scores.residual, styled.bread[: plain.n_competitors]),
    )
    dimensions = [SharedDimension(d.labels, d.count) for d in covariance.dimensions]
    deviations: Vector = np.sqrt(np.maximum(paired_variances(rows, *pair, dimensions), 0))
    return deviations


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
