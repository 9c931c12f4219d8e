# TL112: texts that a dataset tokenizes one by one.

# every program:
import datasets
from transformers import AutoTokenizer

# case: a function
def tokenize(row):
    return tokenizer(row["text"], truncation=True)

texts = texts.map(tokenize, num_proc=4)  # TL112 hint | no fix | says: once for each text | marks: texts.map(tokenize, num_proc=4)

# case: a lambda
texts = datasets.load_dataset("imdb").map(lambda row: tokenizer(row["text"]))  # TL112 hint

# case: by keyword, and switched off
texts = texts.map(function=lambda row: self.tokenizer.encode(row["text"]), batched=False)  # TL112 hint

# case: parts of it are imported
from datasets import load_dataset
texts = load_dataset("imdb").map(lambda row: tok(row["text"]))  # TL112 hint

# case: a function that builds a prompt
def tokenize(row):
    prompt = f"{row['question']} {row['answer']}"
    return tokenizer(prompt)

texts = texts.map(tokenize)  # TL112 hint

# case: a function that another one makes
tokenize = build(tokenizer)
texts = texts.map(tokenize)

# case: batched
texts = texts.map(lambda rows: tokenizer(rows["text"]), batched=True)

# case: an option decides
texts = texts.map(lambda rows: tokenizer(rows["text"]), batched=args.batched)

# case: a dict may bring the argument
texts = texts.map(lambda rows: tokenizer(rows["text"]), **options)

# case: something else is mapped
texts = texts.map(lambda row: {"length": len(row["text"])})
texts = texts.map(normalize)
texts = texts.map()

# case: a chat template, which is filled in one by one
texts = texts.map(lambda row: {"text": tokenizer.apply_chat_template(row["messages"])})

# case: a processor of images
texts = texts.map(lambda row: processor(row["image"], row["text"]))

# case: a pool of processes
texts = pool.map(lambda row: tokenizer(row), rows)

# case: a pool of processes, in pieces
texts = pool.map(func=None, function=lambda row: tokenizer(row), chunksize=8)

# case: TensorFlow
texts = texts.map(lambda row: tokenizer(row), num_parallel_calls=8)

# case: a tokenizer in Python
tokenizer = AutoTokenizer.from_pretrained("t5", use_fast=False)
texts = texts.map(lambda row: tokenizer(row["text"]))

# case: a tokenizer in Rust, and that is said
tokenizer = AutoTokenizer.from_pretrained("t5", use_fast=True)
use_fast = False
texts = texts.map(lambda row: tokenizer(row["text"]))  # TL112 hint

# case: a file without Datasets [bare]
import torch
from data import texts
texts = texts.map(lambda row: tokenizer(row["text"]))

# case: a test [path=tests/test_data.py]
texts = texts.map(lambda row: tokenizer(row["text"]))
