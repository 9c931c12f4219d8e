# TL715: which logs of a training step are reported.

# every program:
import logging
from functools import lru_cache
import torch
import wandb
logger = logging.getLogger(__name__)

# head: a training loop
def train(model, loader, criterion, optimizer, device, writer, args, accelerator, self):
    model.to("cuda")
    for step, (images, labels) in enumerate(loader):
        loss = criterion(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

        # case: numbers for TensorBoard
        writer.add_scalar("lr", args.lr, step)  # TL715 hint | see: writer.add_scalar("step" | no fix: how often
        writer.add_scalar("step", step, step)

        # case: other loggers
        wandb.log({"step": step})  # TL715 hint

        # case: of Accelerate
        logs = {"step": step}
        accelerator.log(logs, step=step)  # TL715 hint

        # case: a logger that the class keeps
        self.wandb_logger.log_dict({"step": step})  # TL715 hint

        # case: a text
        print(f"step {step}")  # TL715 hint
        logger.info("step %d", step)
        logging.info(f"step {step}")

        # case: of a logger
        logger.info("step %d", step)  # TL715 hint

        # case: if there is a writer, in the main process
        if writer is not None and args.rank == 0:
            writer.add_scalar("step", step, step)  # TL715 hint
        if args.use_wandb and accelerator.is_main_process:
            wandb.log({"step": step})  # TL715 hint

        # case: every 100 steps
        if step % 100 == 0:
            writer.add_scalar("step", step, step)
            print(step)

        # case: where something is found
        if "episode" in labels:
            print("done", labels["episode"])

        # case: where something has failed
        try:
            step = step + 1
        except ValueError:
            print("again")

        # case: to debug
        if args.debug:
            print("step", step)
        if args.verbose:
            print("step", step)

        # case: a number is read from the device for it
        writer.add_scalar("loss", loss.item(), step)
        print(f"loss {loss:.3f}")
        wandb.log({"loss": loss.detach().cpu()})

        # case: a progress bar
        bar.set_postfix(step=step)  # TL715 hint | says: drawn again
        bar.set_description(f"step {step}")

        # case: a progress bar that has time
        bar.set_postfix(step=step, refresh=False)
        bar.set_postfix_str("step", refresh=args.often)
        if step % 20 == 0:
            bar.set_description(f"step {step}")

        # case: a progress bar, for which a number is read
        bar.set_postfix(loss=loss.item())

        # case: how much memory there is
        peak = torch.cuda.max_memory_allocated(device) / 1e9  # TL715 hint | says: statistics
        if step % 20 == 0:
            peak = torch.cuda.memory_reserved()

        # case: what is not written each time
        logger.debug("step %d", step)
        logger.warning("no labels")
        self.log("step", step)
        self.log_dict({"step": step})
        value = torch.log(images)
        value = images.log(labels)
        model.info(step)

# head: none

# case: a loop over epochs of one step each
def train(model, images, labels, criterion, optimizer):
    for epoch in range(200):
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}")

# case: a forward pass
class Net(torch.nn.Module):
    def forward(self, x):
        print("forward")  # TL715 hint
        return x

def train(loader, criterion, optimizer):
    model = Net()
    for images, labels in loader:
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()

# case: a function that keeps its answers
@lru_cache
def choose(name):
    logger.info("chose %s", name)
    return name

def train(model, loader, criterion, optimizer):
    for images, labels in loader:
        loss = criterion(model(images, choose("a")), labels)
        loss.backward()
        optimizer.step()

# case: in tests [path=tests/test_train.py]
def train(model, loader, criterion, optimizer):
    for images, labels in loader:
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        print("step")
