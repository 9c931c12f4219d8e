"""A recurrent cell gets one time step after the other, and a head one hidden state."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 64)
        self.cell = nn.LSTMCell(64, 64)
        self.head = nn.Linear(64, 100)

    def forward(self, tokens):
        seen = self.embed(tokens)
        state, out = None, []
        for time in range(tokens.shape[1]):
            state = self.cell(seen[:, time], state)  # planted: cell
            out.append(state[0])
        hidden = torch.stack(out, 1)
        scores = [self.head(each) for each in hidden.unbind(1)]  # planted: head
        return torch.stack(scores, 1)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
tokens = torch.randint(0, 100, (16, 32))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    optimizer.step()
