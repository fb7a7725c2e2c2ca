"""From traces to a rule: plan, sweep, choose, certify, cross-validate, calibrate, transfer."""

__all__ = [
    "advice",
    "calibrate",
    "calibration",
    "cells",
    "certificate",
    "combine",
    "cross_validation",
    "naming",
    "objective",
    "plan",
    "sample_size",
    "sweep",
    "transfer",
]
