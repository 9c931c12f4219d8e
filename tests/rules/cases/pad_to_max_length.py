# TL111: texts that are padded to the longest length that is allowed.

# every program:
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoTokenizer

# head: a program that trains
def step(batch):
    model(**batch).loss.backward()

# case: a dataset
class Texts(Dataset):
    def __getitem__(self, index):
        return self.tokenizer(self.texts[index], padding="max_length", max_length=512)  # TL111 hint | no fix | says: in the collate function

# case: a method of a dataset
class Texts(Dataset):
    def __getitem__(self, index):
        return self.encode(self.texts[index])

    def encode(self, text):
        return self.tokenizer.encode_plus(text, padding="max_length", max_length=self.longest)  # TL111 hint

# case: a collate function
def collate(samples):
    return tokenizer.pad(samples, padding="max_length", max_length=512)  # TL111 hint

# case: a function that a loader gets
def batch(samples):
    return tokenizer(samples, padding="max_length")  # TL111 hint

loader = DataLoader(texts, collate_fn=batch)

# case: a mapped function
LONGEST = 512

def tokenize(rows):
    return tok(rows["text"], padding="max_length", max_length=LONGEST)  # TL111 hint

texts = texts.map(tokenize, batched=True)

# case: a mapped lambda
texts = texts.map(lambda row: tokenizer(row["text"], padding="max_length"))  # TL111 hint

# case: a length that is a parameter
def collate(samples, longest=512):
    return tokenizer(samples, padding="max_length", max_length=longest)  # TL111 hint

# case: to the longest of the batch
def collate(samples):
    return tokenizer(samples, padding=True, max_length=512) + tokenizer(samples, padding="longest")

# case: an option decides
def collate(samples):
    return tokenizer(samples, padding="max_length" if args.pad else True)

# case: a condition decides
def collate(samples):
    if args.pad_to_max_length:
        return tokenizer(samples, padding="max_length")
    return tokenizer(samples, padding=True)

# case: a length that the batch has
def collate(samples):
    longest = max(len(each) for each in samples)
    first = tokenizer(samples, padding="max_length", max_length=longest)
    second = tokenizer(samples, padding="max_length", max_length=longest + 1)
    third = tokenizer(samples, padding="max_length", max_length=max(map(len, samples)))
    return first, second, third

# case: a length that a condition chooses
def collate(samples):
    longest = 128 if fixed else max(map(len, samples))
    return tokenizer(samples, padding="max_length", max_length=longest)

# case: a loop counts the length
def collate(samples):
    for longest in sorted(lengths):
        batch = tokenizer(samples, padding="max_length", max_length=longest)  # TL111 hint
    return batch

# case: pieces of long texts
def collate(samples):
    return tokenizer(samples, padding="max_length", return_overflowing_tokens=True, stride=64)

# case: a short length
def collate(samples):
    return tokenizer(samples, padding="max_length", max_length=32)

# case: a processor of images
def collate(samples):
    return processor(text=samples, padding="max_length")

# case: an extractor of sounds
def collate(samples):
    return feature_extractor(samples, padding="max_length")

# case: in other code
def encode(prompt):
    return tokenizer(prompt, padding="max_length")

# case: mapped elsewhere
def tokenize(rows):
    return tokenizer(rows["text"], padding="max_length")

texts = texts.map(normalize, batched=True)
encode = build(tokenizer)
texts = texts.map(encode).map()
others = pool.map(lambda rows: rows, texts)

# case: a function that another one makes
encode = build(lambda rows: tokenizer(rows["text"], padding="max_length"))
texts = texts.map(encode)

# case: a program that is compiled
model = torch.compile(model)

def collate(samples):
    return tokenizer(samples, padding="max_length")

# case: a program for TPUs
import torch_xla

def collate(samples):
    return tokenizer(samples, padding="max_length")

# case: a program with prompts
from transformers import CLIPTextModel

def collate(samples):
    return tokenizer(samples, padding="max_length")

# case: a test [path=tests/test_data.py]
def collate(samples):
    return tokenizer(samples, padding="max_length")

# head: a program that does not train
import torch

# case: it evaluates
def collate(samples):
    return tokenizer(samples, padding="max_length")
