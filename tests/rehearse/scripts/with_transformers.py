import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=100
)
model = BertForSequenceClassification(config)
data = [{"input_ids": torch.randint(0, 100, (16,)), "labels": i % 2} for i in range(400)]
args = TrainingArguments(
    "out",
    per_device_train_batch_size=8,
    max_steps=40,
    logging_steps=5,
    report_to=[],
    save_strategy="no",
)
Trainer(model, args, train_dataset=data).train()
