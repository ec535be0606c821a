"""Writes crates/b2nd/tests/fixtures/dtype.tsv: what NumPy makes of dtype texts.

Columns: text, itemsize, kind, byte order, unit, the text that python-blosc2 stores, the descr of a .npy header,
fields as hex(name):hex(title):offset:itemsize:shape. A dash stands for "has none".
Usage: python fixtures_dtype.py > crates/b2nd/tests/fixtures/dtype.tsv
"""
import ast
import itertools

import numpy as np

texts = []
for order, code in itertools.product("<>=|", ["b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8"]):
    texts.append(order + code)
texts += ["i4", "f8", "c8", "<c8", ">c8", "c16", "<c16", ">c16", "?", ">?", "b", "B", "h", "H", "i", "I", "q", "Q", "e",
          "f", "d", "F", "D", "c", "S", "U", "V", "|S0", "<U0", "|V0", "|S10", "<S10", "S1", "<U10", ">U10", "|U3", "U1",
          "|V16", "V1", ">V3", "|S2147483647", "<U536870911", "|V100000", "a7"]
for letter, unit in itertools.product("Mm", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]):
    texts.append(f"<{letter}8[{unit}]")
texts += [">M8[D]", "M8[25s]", "m8[2147483647as]", ">m8[7W]", "M8", "<m8", ">M8", "M8[generic]", "M8[1s]", "M",
          "datetime64", "datetime64[ns]", "timedelta64[25ms]", "timedelta64"]
texts += ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128", "str", "bytes", "str_", "bytes_", "void", "half", "single", "double",
          "int", "float", "complex", "byte", "ubyte", "short", "ushort", "intc", "uintc", "longlong", "csingle", "cdouble"]
texts += [
    "[('a', '<i4'), ('b', '<f8', (2,3))]",
    "[('a','<i4'),('b','>f8',(2,3),),]",
    " [ ( 'a' , 'i4' ) ,\n ( u'b' , \"U5\" , 3 ) ] ",
    "[(('title', 'name'), '<i2'), ('', '|V4'), ('n', [('x', '<f4'), ('y', '<f4')])]",
    "[('', '|V3'), ('a', '|u1')]",
    "[('a', '|u1'), ('', '|V7')]",
    "[('a', '|b1'), ('b', '|S3'), ('c', '<U2'), ('d', '<M8[ns]'), ('e', '>m8[2D]'), ('f', '<c8'), ('g', '|V5'), ('h', '|i1')]",
    "[('a', '<i4', 1), ('b', '<i4', (1,)), ('c', '<i4', ()), ('d', '<i4', (2, 0))]",
    "[('a', ('<i4', (2,)), (3,))]",
    "[('a', (('<i4', (2,)), (3,)))]",
    "[('a', ('<i4', (2, 2)))]",
    "[('a', ('S', 5)), ('b', ('U', 2))]",
    "[('a', 'S'), ('b', 'V'), ('c', 'U')]",
    "[]",
    "[('a', [])]",
    "[('deep', [('deeper', [('deepest', [('x', '>i2', (2,)), ('y', '?')], (2,))])])]",
    "[(\"it's\", '<i2'), ('say \"x\"', '<i2'), ('both \\'\"', 'i1')]",
    "[('tab\\t', 'i1'), ('nl\\n', 'i1'), ('back\\\\slash', 'i1'), ('\\x00nul', 'i1'), ('\\u00e9\\U0001f600', 'i1'), ('\\101\\7', 'i1')]",
    "[('é', 'i1'), ('日本', 'i1'), ('\u200b', 'i1'), ('\u0378', 'i1'), ('\xa0', 'i1'), ('\xad', 'i1')]",
    "[('a' 'b', 'i1')]",
    "[('n', {'names': ['x'], 'formats': ['<f4'], 'offsets': [4], 'itemsize': 12})]",
    "[('n', {'names': ['x', 'y'], 'formats': ['i1', '<f8'], 'aligned': True}), ('m', 'i1')]",
    "{'names': ['a', 'b'], 'formats': ['<i4', '<f8']}",
    "{'names': ('a', 'b'), 'formats': ('<i4', '<f8')}",
    "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 24}",
    "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [8, 0], 'itemsize': 12}",
    "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 2]}",
    "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
    "{'names': ['a', 'b', 'c'], 'formats': ['i1', '<c8', 'S3'], 'aligned': True}",
    "{'names': ['a', 'b'], 'formats': ['i1', '<U1'], 'aligned': True}",
    "{'names': ['a', 'b'], 'formats': ['i1', ('<f4', (2,))], 'titles': ['A', None], 'itemsize': 40}",
    "{'names': ['a', 'b'], 'formats': ['i1', '<f4'], 'titles': [None, 'B'], 'itemsize': 5}",
    "{'names': [], 'formats': [], 'itemsize': 5}",
    "{'names': [], 'formats': []}",
    "{'names': ['f'], 'formats': [[('x', '<f4')]], 'offsets': [3]}",
    "{'names': ['n', 'm'], 'formats': [[('x', 'i1'), ('y', '<f8')], 'i1'], 'aligned': True}",
    "{'names': ['n'], 'formats': [([('x', 'i1'), ('y', [('z', '<i4'), ('w', 'i1')], (2,))], (2,))], 'aligned': True}",
    "{'names': ['n'], 'formats': [{'names': ['x'], 'formats': ['<i2'], 'offsets': [4], 'aligned': False}], 'aligned': True}",
    "{'names': ['a'], 'formats': ['f8'], 'itemsize': 40, 'aligned': True}",
    "('<f8', (2,))", "('<f8', 2)", "('<f8', ())", "(('i4', (2,)), (3,))", "('S', 5)", "([('a', '>i2')], (2, 2))",
]


def build(text):
    if text.lstrip()[:1] in "[({":
        return build_literal(ast.literal_eval(text.strip()))
    return np.dtype(text)


def build_literal(value):
    """np.lib.format.descr_to_dtype, but for dicts and for what it leaves to np.dtype."""
    if isinstance(value, tuple) and isinstance(value[0], (list, tuple)):
        return np.dtype((build_literal(value[0]), value[1]))
    if isinstance(value, list):
        fields = [(f[0], build_literal(f[1]), *f[2:]) for f in value]
        if not any(f[0] == "" for f in fields):
            return np.dtype(fields)
        spec = {"names": [], "formats": [], "offsets": [], "titles": []}
        offset = 0
        for f in fields:
            t = np.dtype((f[1], f[2])) if len(f) > 2 else f[1]
            if f[0] != "":
                title, name = f[0] if isinstance(f[0], tuple) else (None, f[0])
                for key, item in zip(spec, (name, t, offset, title)):
                    spec[key].append(item)
            offset += t.itemsize
        return np.dtype(spec | {"itemsize": offset})
    return np.dtype(value)


def loses_layout(dt):
    """Aligned structures inside unaligned ones come back packed from their own text."""
    if dt.isalignedstruct:
        return False
    return any(dt[name].base.isalignedstruct or loses_layout(dt[name].base) for name in dt.names or ())


def hexed(text):
    return "-" if text is None else text.encode().hex()


for text in dict.fromkeys(texts):
    dt = build(text)
    stored = str(dt) if dt.kind == "V" else dt.str
    try:
        descr = repr(np.lib.format.dtype_to_descr(dt)) if dt.subdtype is None else "-"
    except ValueError:
        descr = "-"
    if loses_layout(dt):
        stored = "-"
    unit = "-"
    if dt.kind in "Mm" and np.datetime_data(dt)[0] != "generic":
        unit = "{1}:{0}".format(*np.datetime_data(dt))
    fields = []
    for name in dt.names or ():
        inner, offset, *title = dt.fields[name]
        shape = "x".join(map(str, inner.shape))
        fields.append(f"{hexed(name)}:{hexed(title[0] if title else None)}:{offset}:{inner.base.itemsize}:{shape}")
    kind = "struct" if dt.names is not None else dt.kind
    order = {"=": "<"}.get(dt.byteorder, dt.byteorder)
    row = (text.replace("\n", " "), str(dt.itemsize), kind, order, unit, stored, descr, ";".join(fields) or "-")
    assert not any("\t" in cell or "\n" in cell for cell in row), row
    print("\t".join(row))
