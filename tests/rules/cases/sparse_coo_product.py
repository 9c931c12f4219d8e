# TL316: which products of sparse matrices are reported.

# every program:
import torch
from torch import nn


# head: none


# case: a graph that the class makes
class Net(nn.Module):
    def __init__(self, indices, values, size):
        super().__init__()
        self.graph = torch.sparse.FloatTensor(indices, values, size)

    def forward(self, x):
        for _ in range(3):
            x = torch.sparse.mm(self.graph, x)  # TL316 hint | see: torch.sparse.Fl | no fix
        return x


# case: a graph of the caller
class Layer(nn.Module):
    def forward(self, x, adj):
        return torch.spmm(adj, self.linear(x))  # TL316 hint


# case: a graph that is coalesced: the backward pass sorts it
class Net(nn.Module):
    def __init__(self, indices, values, size):
        super().__init__()
        self.graph = torch.sparse_coo_tensor(indices, values, size).coalesce().cuda()

    def forward(self, x):
        return torch.sparse.mm(self.graph, x)  # TL316 hint


# case: several products in one function
class Net(nn.Module):
    def forward(self, x, one, other):
        x = torch.sparse.mm(one, x)  # TL316 hint
        return torch.sparse.mm(other, x)


# case: products in two functions
class Net(nn.Module):
    def encode(self, x, one):
        return torch.sparse.mm(one, x)  # TL316 hint

    def forward(self, x, one, other):
        return torch.sparse.addmm(x, other, self.encode(x, one))  # TL316 hint


# case: in CSR form
class Net(nn.Module):
    def __init__(self, indices, values, size):
        super().__init__()
        graph = torch.sparse_coo_tensor(indices, values, size)
        self.graph = graph.coalesce().to_sparse_csr()

    def forward(self, x):
        return torch.sparse.mm(self.graph, x)


# case: products of another library
import torch_sparse


def spread(graph, x):
    return torch_sparse.spmm(graph, x) + torch.mm(x, x)


# case: in evaluation
@torch.no_grad()
def evaluate(graph, x):
    return torch.sparse.mm(graph, x)


# case: a test [path=tests/test_graphs.py]
def spread(graph, x):
    return torch.sparse.mm(graph, x)
