"""Looks at gradients between steps and trusts that there are some."""


def largest(model):
    return max(float(p.grad.abs().max()) for p in model.parameters())
