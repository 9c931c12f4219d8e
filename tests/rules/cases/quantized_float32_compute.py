# TL512: which 4-bit models compute in float32 because nobody names another type.

# every program:
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

# head: none

# case: a configuration without a type
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True)  # TL512 suggest | fix says: bnb_4bit_compute_dtype=torch.bfloat16

# case: a configuration of another library of the family
import diffusers
config = diffusers.BitsAndBytesConfig(load_in_4bit=True)  # TL512 suggest

# case: torch has no name [bare]
from torch import nn
from transformers import BitsAndBytesConfig
config = BitsAndBytesConfig(load_in_4bit=True)  # TL512 suggest | fix says: dtype="bfloat16"

# case: a configuration with a type
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float16)

# case: a configuration with a type that is chosen
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=args.type)

# case: keywords that nobody knows
config = BitsAndBytesConfig(load_in_4bit=True, **options)

# case: a type that is set later
config = BitsAndBytesConfig(load_in_4bit=True)
config.bnb_4bit_compute_dtype = torch.bfloat16

# case: a type of another configuration
plain = BitsAndBytesConfig(load_in_4bit=True)  # TL512
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)

# case: 8 bits
config = BitsAndBytesConfig(load_in_8bit=True)

# case: an option decides
config = BitsAndBytesConfig(load_in_4bit=args.quantize)

# case: a library that chooses the type itself
from unsloth import FastLanguageModel
model = FastLanguageModel.from_pretrained(name, load_in_4bit=True)

# case: a test [path=tests/test_model.py]
config = BitsAndBytesConfig(load_in_4bit=True)
