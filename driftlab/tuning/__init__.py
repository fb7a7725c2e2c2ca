"""From traces to a rule: plan, sweep, choose, certify, cross-validate, calibrate, transfer."""
