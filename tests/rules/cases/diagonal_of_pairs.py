# TL314: the diagonal of which matrices is reported.

# every program:
import numpy as np
import torch
from torch.nn import functional as F
from torchvision.ops import box_iou, generalized_box_iou
import box_ops

# head: a loss
def loss_of(self, a, b, boxes, targets, scale, weight):

    # case: boxes
    return 1 - torch.diag(generalized_box_iou(boxes, targets))  # TL314 hint | see | no fix

    # case: of a module of its own, which returns more
    ious = torch.diag(box_ops.box_iou(boxes, targets)[0])  # TL314 hint
    return ious

    # case: the first of two results
    ious, _ = box_iou(boxes, targets)
    ious = torch.diag(ious).detach()  # TL314 hint | see: box_iou(boxes, targets)
    return ious

    # case: in one of two branches
    if weight is None:
        ious, _ = box_iou(boxes, targets)
        ious = torch.diag(ious)  # TL314 hint
    else:
        ious = weight
    return ious

    # case: the matrix is used before its name is set again
    logits = a @ b.T
    if weight is None:
        scale = logits.logsumexp(1)
        logits = torch.diag(logits)
    return logits, scale

    # case: the matrix is used too, in one of two branches
    if weight is None:
        logits = a @ b.T
        scale = torch.diag(logits)
    else:
        logits = weight
    return logits, scale

    # case: products
    return torch.diag(a @ b.T)  # TL314 hint

    # case: scaled, with a name
    logits = scale * a @ b.t()
    return torch.diagonal(logits)  # TL314 hint | see: scale * a @ b.t()

    # case: by functions and methods
    return torch.mm(a, b.transpose(0, 1)).diag()  # TL314 hint

    # case: scaled on the right
    return torch.diag(torch.matmul(a, b.T) / scale)  # TL314 hint

    # case: distances
    return torch.cdist(a, b).diagonal()  # TL314 hint

    # case: a matrix that is turned in another way
    return torch.diag(a @ b.mT)  # TL314 hint

    # case: of NumPy
    return np.diag(a @ b.T)

    # case: a part of an object
    return torch.diag(a @ self.weight)

    # case: a scaled vector
    return torch.diag(scale * weight)

    # case: an attribute
    return torch.diag(self.box_iou)

    # case: the matrix is used too
    logits = a @ b.T
    return logits.logsumexp(1) - torch.diag(logits)

    # case: one of several matrices
    logits = a @ b.T
    if scale is None:
        logits = b @ a.T
    return torch.diag(logits)

    # case: a vector
    return torch.diag(a @ b)

    # case: a sum
    return torch.diag(a @ b.T + weight)

    # case: a function of one argument
    return torch.diag(box_iou(boxes))

    # case: what is not known
    return torch.diag(weight)

    # case: something else
    return torch.diag(F.cosine_similarity(a, b))

    # case: in a loop
    for logits in a @ b.T:
        weight = torch.diag(logits)
    return weight

# head: none

# case: in evaluation
@torch.no_grad()
def evaluate(a, b):
    return torch.diag(a @ b.T)

# case: in tests [path=tests/test_loss.py]
def loss_of(a, b):
    return torch.diag(a @ b.T)
