"""Modules in loops whose calls need one another: each takes what the last one has said."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 64)
        self.cell = nn.LSTMCell(128, 64)
        self.query = nn.Linear(64, 64)
        self.head = nn.Linear(64, 100)

    def forward(self, memory, token):
        state = memory[:, 0], torch.zeros_like(memory[:, 0])
        out = []
        for _ in range(memory.shape[1]):
            weights = (memory @ self.query(state[0]).unsqueeze(2)).softmax(1)
            context = (weights * memory).sum(1)
            state = self.cell(torch.cat([self.embed(token), context], 1), state)
            scores = self.head(state[0])
            token = scores.argmax(1)
            out.append(scores)
        return torch.stack(out, 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 64)
        self.encoder = nn.LSTM(64, 64, batch_first=True)
        self.decoder = Decoder()

    def forward(self, tokens):
        return self.decoder(self.encoder(self.embed(tokens))[0], tokens[:, 0])


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
tokens = torch.randint(0, 100, (16, 32))
for _ in range(400):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    optimizer.step()
