#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tinygrad needs for the models of models.h, on its device NULL and on one thread.

Needs tinygrad 0.14.0 and its own Python:  DEV=NULL python tools/bench/peer_tinygrad_models.py [MODEL ...]

A line a model: milliseconds of CPU time of graph building, scheduling, rewriting (each distinct kernel to its final sink) and
linearising (the list of ops and the renderer's text); kernels launched, distinct kernels and UOps of their lists.
The architectures, batch sizes and losses are those of models.cc. Weights are declared and never filled.
"""
import argparse, gc, json, os, time

os.environ.setdefault("DEV", "NULL")
os.environ.setdefault("PARALLEL", "0")
os.environ.setdefault("CACHELEVEL", "0")

from tinygrad import Context, Device, Tensor, dtypes, nn  # noqa: E402
from tinygrad.codegen import full_rewrite_to_sink, pm_to_program  # noqa: E402
from tinygrad.uop.ops import KernelInfo, Ops, ProgramInfo, UOp, graph_rewrite  # noqa: E402

# --- the architectures ---


class Bottleneck:
    def __init__(self, inputs, planes, stride):
        self.conv1 = nn.Conv2d(inputs, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm(planes)
        self.conv3 = nn.Conv2d(planes, planes * 4, 1, bias=False)
        self.bn3 = nn.BatchNorm(planes * 4)
        self.down = None
        if stride != 1 or inputs != planes * 4:
            self.down = [nn.Conv2d(inputs, planes * 4, 1, stride=stride, bias=False), nn.BatchNorm(planes * 4)]

    def __call__(self, x):
        y = self.bn1(self.conv1(x)).relu()
        y = self.bn2(self.conv2(y)).relu()
        y = self.bn3(self.conv3(y))
        return (y + (x.sequential(self.down) if self.down else x)).relu()


class ResNet50:
    def __init__(self):
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm(64)
        self.blocks, inputs = [], 64
        for planes, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                self.blocks.append(Bottleneck(inputs, planes, stride if i == 0 else 1))
                inputs = planes * 4
        self.fc = nn.Linear(2048, 1000)

    def __call__(self, x):
        y = self.bn1(self.conv1(x)).relu().max_pool2d((3, 3), stride=2, padding=1)
        return self.fc(y.sequential(self.blocks).mean((2, 3)))


class Attention:
    """Multi-head attention with separate or joint projections."""

    def __init__(self, dim, heads, joint):
        self.heads, self.joint = heads, joint
        if joint:
            self.qkv = nn.Linear(dim, 3 * dim)
        else:
            self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def __call__(self, x, causal):
        b, t, d = x.shape
        parts = self.qkv(x).split(d, dim=-1) if self.joint else (self.q(x), self.k(x), self.v(x))
        q, k, v = (p.reshape(b, t, self.heads, d // self.heads).transpose(1, 2) for p in parts)
        y = q.scaled_dot_product_attention(k, v, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Gpt2Block:
    def __init__(self, dim, heads):
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, joint=True)
        self.fc, self.proj = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def __call__(self, x):
        x = x + self.attn(self.ln1(x), True)
        return x + self.proj(self.fc(self.ln2(x)).gelu())


class Gpt2:
    def __init__(self, layers=12, dim=768, heads=12, vocabulary=50257, context=1024):
        self.wte, self.wpe = nn.Embedding(vocabulary, dim), nn.Embedding(context, dim)
        self.blocks = [Gpt2Block(dim, heads) for _ in range(layers)]
        self.ln = nn.LayerNorm(dim)

    def __call__(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        return self.ln(x.sequential(self.blocks)).linear(self.wte.weight.transpose())


class BertLayer:
    def __init__(self, dim, heads, hidden):
        self.attn, self.ln1 = Attention(dim, heads, joint=False), nn.LayerNorm(dim, 1e-12)
        self.fc, self.proj, self.ln2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim), nn.LayerNorm(dim, 1e-12)

    def __call__(self, x):
        x = self.ln1(x + self.attn(x, False))
        h = self.fc(x)
        return self.ln2(x + self.proj(h * 0.5 * (1 + (h / 2**0.5).erf())))


class Bert:
    def __init__(self, layers=24, dim=1024, heads=16, hidden=4096, vocabulary=30522, context=512):
        self.words, self.positions, self.types = (nn.Embedding(n, dim) for n in (vocabulary, context, 2))
        self.ln = nn.LayerNorm(dim, 1e-12)
        self.layers = [BertLayer(dim, heads, hidden) for _ in range(layers)]

    def __call__(self, tokens, types):
        x = self.words(tokens) + self.positions.weight[: tokens.shape[1]] + self.types(types)
        return self.ln(x).sequential(self.layers)


class LlamaLayer:
    def __init__(self, dim, heads, kv_heads, hidden):
        self.heads, self.kv_heads, self.head = heads, kv_heads, dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, kv_heads * self.head, bias=False)
        self.v = nn.Linear(dim, kv_heads * self.head, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.gate, self.up = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(dim, 1e-5), nn.RMSNorm(dim, 1e-5)

    @staticmethod
    def rotate(x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        return (a * cos - b * sin).cat(b * cos + a * sin, dim=-1)

    def __call__(self, x, cos, sin):
        b, t, d = x.shape
        y = self.norm1(x)
        q = self.q(y).reshape(b, t, self.heads, self.head).transpose(1, 2)
        k = self.k(y).reshape(b, t, self.kv_heads, self.head).transpose(1, 2)
        v = self.v(y).reshape(b, t, self.kv_heads, self.head).transpose(1, 2)
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        y = q.scaled_dot_product_attention(k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        y = self.norm2(x)
        return x + self.down(self.gate(y).silu() * self.up(y))


class Llama:
    def __init__(self, layers=32, dim=4096, heads=32, kv_heads=8, hidden=14336, vocabulary=128256):
        self.embed = nn.Embedding(vocabulary, dim)
        self.layers = [LlamaLayer(dim, heads, kv_heads, hidden) for _ in range(layers)]
        self.norm, self.out = nn.RMSNorm(dim, 1e-5), nn.Linear(dim, vocabulary, bias=False)
        self.head = dim // heads

    def __call__(self, tokens):
        t, half = tokens.shape[1], self.head // 2
        rates = 500000.0 ** (Tensor.arange(half) * (-1 / half))
        angles = Tensor.arange(t).reshape(t, 1) * rates.reshape(1, half)
        cos, sin = angles.cos(), angles.sin()
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.out(self.norm(x))


# --- what is measured ---


def declared(model):
    """Storage without contents for every weight and statistic."""
    for p in nn.state.get_state_dict(model).values():
        keep = p.is_param
        p.replace(Tensor.empty(*p.shape, dtype=p.dtype))
        p.is_param_(keep)
    return model


def tokens(batch, length):
    return Tensor.empty(batch, length, dtype=dtypes.int32)


def forward(model, *inputs):
    return lambda: [model(*inputs)]


def training(model, optimizer, inputs, target):
    def step():
        loss = model(*inputs).reshape(-1, model_classes(model)).sparse_categorical_crossentropy(target)
        optimizer.zero_grad()
        loss.backward()
        return [loss] + optimizer.schedule_step()

    return step


def model_classes(model):
    return 1000 if isinstance(model, ResNet50) else model.wte.weight.shape[0]


def resnet50():
    return forward(declared(ResNet50()), Tensor.empty(64, 3, 224, 224))


def resnet50_training():
    model = declared(ResNet50())
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for b in optimizer.b:
        b.replace(Tensor.empty(*b.shape))
    optimizer.lr.replace(Tensor.empty(1))
    return training(model, optimizer, (Tensor.empty(64, 3, 224, 224),), Tensor.empty(64, dtype=dtypes.int32))


def gpt2_training():
    model = declared(Gpt2())
    optimizer = nn.optim.AdamW(nn.state.get_parameters(model), lr=3e-4)
    for b in optimizer.m + optimizer.v + [optimizer.b1_t, optimizer.b2_t]:
        b.replace(Tensor.empty(*b.shape))
    optimizer.lr.replace(Tensor.empty(1))
    return training(model, optimizer, (tokens(4, 1024),), Tensor.empty(4096, dtype=dtypes.int32))


def bert_large():
    return forward(declared(Bert()), tokens(8, 512), tokens(8, 512))


def llama3_8b():
    return forward(declared(Llama()), tokens(1, 512))


MODELS = {f.__name__: f for f in (resnet50, resnet50_training, gpt2_training, bert_large, llama3_8b)}


def measure(name):
    build = MODELS[name]()
    train = int(name.endswith("training"))
    renderer = Device[Device.DEFAULT].renderer
    gc.collect()
    gc.disable()
    with Context(TRAINING=train):
        t0 = time.process_time()
        outputs = build()
        t1 = time.process_time()
        linear, _ = outputs[0].linear_with_vars(*outputs[1:])
        t2 = time.process_time()
        kernels, copies, distinct = 0, 0, {}
        for call in linear.src:
            ast = call.src[0]
            if ast.op is Ops.SINK:
                kernels += 1
                distinct[ast.key] = ast
            else:
                copies += 1
        sinks = []
        t3 = time.process_time()
        for ast in distinct.values():
            sinks.append(full_rewrite_to_sink(ast, renderer, optimize=ast.tag is None))
        t4 = time.process_time()
        uops = 0
        for sink in sinks:
            program = UOp(Ops.PROGRAM, src=(sink,), arg=ProgramInfo.from_sink(sink, renderer.target))
            program = graph_rewrite(program, pm_to_program, ctx=renderer, name="linearize/render")
            uops += len(program.src[1].src)
        t5 = time.process_time()
    gc.enable()
    ms = lambda a, b: round((b - a) * 1e3, 1)  # noqa: E731
    return dict(model=name, graph=ms(t0, t1), schedule=ms(t1, t2), rewrite=ms(t3, t4), linearise=ms(t4, t5),
                total=round((t2 - t0 + t5 - t3) * 1e3, 1), kernels=kernels, copies=copies, distinct=len(distinct), uops=uops)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    arguments = parser.parse_args()
    for name in arguments.models or MODELS:
        print(json.dumps(measure(name)), flush=True)
