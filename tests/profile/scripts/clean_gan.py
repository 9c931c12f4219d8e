"""Two networks with an optimizer each. The generator's step takes no gradient for the other one."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

generator = nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 256))
discriminator = nn.Sequential(nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))
generator_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4, foreach=True)
discriminator_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4, foreach=True)
criterion = nn.BCEWithLogitsLoss()
images = torch.randn(64 * 50, 256)
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for _ in range(8):
    for real in images.split(64):
        made = generator(torch.randn(64, 32))
        discriminator_optimizer.zero_grad(set_to_none=True)
        loss = criterion(discriminator(real), ones)
        loss = loss + criterion(discriminator(made.detach()), zeros)
        loss.backward()
        discriminator_optimizer.step()
        discriminator.requires_grad_(False)
        generator_optimizer.zero_grad(set_to_none=True)
        criterion(discriminator(made), ones).backward()
        generator_optimizer.step()
        discriminator.requires_grad_(True)
