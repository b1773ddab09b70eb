"""Votes in, leaderboards with intervals out: Bradley-Terry and its kin as pure numerics, no Django."""
