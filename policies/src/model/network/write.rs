//! A chain of layers as ONNX. The same layers give the same octets.

use super::{Activation, Layer, Network};
use crate::model::onnx::{
    ATTRIBUTE_FLOAT, ATTRIBUTE_INT, AttributeProto, Dimension, DimensionValue, FLOAT, GraphProto,
    ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TensorType,
    TypeProto, ValueInfoProto,
};
use prost::Message;

/// File format 8 and operator set 13: read by ONNX Runtime since 1.14 and by tract.
const IR_VERSION: i64 = 8;
const OPSET: i64 = 13;
/// Name of the input.
const INPUT: &str = "observation";
/// Name of the output.
const OUTPUT: &str = "scores";

impl Network {
    /// As an ONNX file with one input, `observation` (batch × inputs), and one output, `scores` (batch × outputs).
    pub fn to_onnx(&self) -> Vec<u8> {
        let mut graph = GraphProto {
            name: "actor".into(),
            input: vec![value(INPUT, self.inputs())],
            output: vec![value(OUTPUT, self.outputs())],
            ..GraphProto::default()
        };
        let last = self.layers.len().saturating_sub(1);
        let mut from = INPUT.to_owned();
        for (index, layer) in self.layers.iter().enumerate() {
            let to = if index == last {
                OUTPUT.to_owned()
            } else {
                format!("layer{index}")
            };
            write(&mut graph, index, layer, &from, &to);
            from = to;
        }
        let model = ModelProto {
            ir_version: IR_VERSION,
            producer_name: "cantor".into(),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: OPSET,
            }],
        };
        model.encode_to_vec()
    }
}

fn write(graph: &mut GraphProto, index: usize, layer: &Layer, from: &str, to: &str) {
    let weight = |name: &str| format!("{name}{index}");
    match layer {
        Layer::Dense {
            inputs,
            outputs,
            weights,
            bias,
        } => {
            let names = [weight("weights"), weight("bias")];
            graph
                .initializer
                .push(tensor(&names[0], &[*outputs, *inputs], weights));
            graph.initializer.push(tensor(&names[1], &[*outputs], bias));
            let transposed = AttributeProto {
                name: "transB".into(),
                i: 1,
                r#type: ATTRIBUTE_INT,
                ..AttributeProto::default()
            };
            let inputs = [from, &names[0], &names[1]];
            graph.node.push(node("Gemm", &inputs, to, vec![transposed]));
        }
        Layer::Affine { scale, shift } => {
            let names = [weight("scale"), weight("shift"), weight("scaled")];
            graph
                .initializer
                .push(tensor(&names[0], &[scale.len()], scale));
            graph
                .initializer
                .push(tensor(&names[1], &[shift.len()], shift));
            let scaled = &names[2];
            graph
                .node
                .push(node("Mul", &[from, &names[0]], scaled, Vec::new()));
            graph
                .node
                .push(node("Add", &[scaled, &names[1]], to, Vec::new()));
        }
        Layer::Activation { activation, .. } => {
            let (operator, attributes) = match activation {
                Activation::Relu => ("Relu", Vec::new()),
                Activation::LeakyRelu(slope) => {
                    let alpha = AttributeProto {
                        name: "alpha".into(),
                        f: *slope,
                        r#type: ATTRIBUTE_FLOAT,
                        ..AttributeProto::default()
                    };
                    ("LeakyRelu", vec![alpha])
                }
                Activation::Tanh => ("Tanh", Vec::new()),
                Activation::Sigmoid => ("Sigmoid", Vec::new()),
                Activation::Softmax => ("Softmax", Vec::new()),
            };
            graph.node.push(node(operator, &[from], to, attributes));
        }
    }
}

fn node(
    operator: &str,
    inputs: &[&str],
    output: &str,
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![output.to_owned()],
        name: format!("{operator}:{output}"),
        op_type: operator.to_owned(),
        attribute,
        domain: String::new(),
    }
}

fn tensor(name: &str, dims: &[usize], values: &[f32]) -> TensorProto {
    TensorProto {
        dims: dims.iter().map(|dim| *dim as i64).collect(),
        data_type: FLOAT,
        name: name.to_owned(),
        raw_data: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ..TensorProto::default()
    }
}

fn value(name: &str, width: usize) -> ValueInfoProto {
    let dimensions = [
        DimensionValue::DimParam("batch".into()),
        DimensionValue::DimValue(width as i64),
    ];
    let shape = TensorShapeProto {
        dim: dimensions
            .map(|value| Dimension { value: Some(value) })
            .into(),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            tensor_type: Some(TensorType {
                elem_type: FLOAT,
                shape: Some(shape),
            }),
        }),
    }
}
