//! ONNX as a chain of layers: Gemm, MatMul, element-wise arithmetic with constants, and activations.

use super::{Activation, Layer, MAX_WEIGHTS, MAX_WIDTH, Network};
use crate::model::Refusal;
use crate::model::onnx::{
    AttributeProto, DimensionValue, FLOAT, GraphProto, ModelProto, NodeProto, TensorProto,
    ValueInfoProto,
};
use prost::Message;
use std::collections::HashMap;

/// Nodes at most.
const MAX_NODES: usize = 256;
/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;

type Result<T> = std::result::Result<T, String>;

impl Network {
    /// Reads an ONNX file.
    ///
    /// # Errors
    /// When it is none, or is not a chain of the operators that are run here.
    pub fn from_onnx(onnx: &[u8]) -> std::result::Result<Self, Refusal> {
        read(onnx)
            .map_err(|reason| Refusal::Onnx { reason })
            .and_then(Self::new)
    }
}

fn read(onnx: &[u8]) -> Result<Vec<Layer>> {
    let model = ModelProto::decode(onnx).map_err(|error| format!("no ONNX file: {error}"))?;
    let graph = model.graph.ok_or("no ONNX file: it holds no graph")?;
    if graph.node.len() > MAX_NODES {
        return Err(format!("{} nodes, more than {MAX_NODES}", graph.node.len()));
    }
    Chain::new(&graph)?.read(&graph)
}

/// Values that nodes can take.
struct Chain<'a> {
    constants: HashMap<&'a str, Constant>,
    /// Name and width of what the chain has come to.
    end: &'a str,
    width: usize,
    layers: Vec<Layer>,
    weights: usize,
}

/// A tensor of floats.
#[derive(Clone)]
struct Constant {
    dims: Vec<usize>,
    values: Vec<f32>,
}

impl<'a> Chain<'a> {
    fn new(graph: &'a GraphProto) -> Result<Self> {
        let mut constants = HashMap::new();
        for tensor in &graph.initializer {
            constants.insert(tensor.name.as_str(), Constant::new(tensor)?);
        }
        let free = |input: &&ValueInfoProto| !constants.contains_key(input.name.as_str());
        let inputs: Vec<_> = graph.input.iter().filter(free).collect();
        let [input] = inputs.as_slice() else {
            return Err(format!("{} inputs, not one", inputs.len()));
        };
        Ok(Self {
            width: width(input)?,
            end: &input.name,
            constants,
            layers: Vec::new(),
            weights: 0,
        })
    }

    fn read(mut self, graph: &'a GraphProto) -> Result<Vec<Layer>> {
        for node in &graph.node {
            self.node(node)
                .map_err(|reason| format!("node {:?} ({}): {reason}", node.name, node.op_type))?;
        }
        match graph.output.as_slice() {
            [output] if output.name == self.end => Ok(self.layers),
            [output] => Err(format!(
                "its output {:?} is not what its last node gives",
                output.name
            )),
            outputs => Err(format!("{} outputs, not one", outputs.len())),
        }
    }

    fn node(&mut self, node: &'a NodeProto) -> Result<()> {
        let [output] = node.output.as_slice() else {
            return Err(format!("{} outputs, not one", node.output.len()));
        };
        if !matches!(node.domain.as_str(), "" | "ai.onnx") {
            return Err(format!("operators of {:?} are not known", node.domain));
        }
        if node.op_type == "Constant" {
            let tensor = attribute(node, "value").and_then(|a| a.t.as_ref());
            let constant = Constant::new(tensor.ok_or("no tensor of floats")?)?;
            self.constants.insert(output, constant);
            return Ok(());
        }
        match node.op_type.as_str() {
            "Gemm" => self.gemm(node)?,
            "MatMul" => self.mat_mul(node)?,
            "Add" | "Sub" | "Mul" | "Div" => self.arithmetic(node)?,
            "Identity" => self.chained(node, 0)?,
            "Flatten" => {
                self.chained(node, 0)?;
                match integer(node, "axis", 1) {
                    1 => {}
                    axis => return Err(format!("along axis {axis}, not 1")),
                }
            }
            operator => {
                let activation = activation(node).ok_or_else(|| {
                    format!(
                        "{operator} is not run here: use Gemm, MatMul, Add, Sub, Mul, Div, Relu, LeakyRelu, Tanh, Sigmoid, Softmax"
                    )
                })?;
                self.chained(node, 0)?;
                if activation == Activation::Softmax && !matches!(integer(node, "axis", -1), -1 | 1)
                {
                    return Err("not along the last axis".into());
                }
                let width = self.width;
                self.layers.push(Layer::Activation { activation, width });
            }
        }
        self.end = output;
        Ok(())
    }

    fn gemm(&mut self, node: &NodeProto) -> Result<()> {
        self.chained(node, 0)?;
        if integer(node, "transA", 0) != 0 {
            return Err("transA is not run here".into());
        }
        let (alpha, beta) = (float(node, "alpha", 1.0), float(node, "beta", 1.0));
        let transposed = integer(node, "transB", 0) != 0;
        let (outputs, mut weights) = self.matrix(node, transposed)?;
        weights.iter_mut().for_each(|w| *w *= alpha);
        let bias = match node.input.get(2).map(String::as_str) {
            None | Some("") => vec![0.0; outputs],
            Some(name) => {
                let bias = self.constant(name)?.row(outputs)?;
                bias.into_iter().map(|b| b * beta).collect()
            }
        };
        self.dense(outputs, weights, bias)
    }

    fn mat_mul(&mut self, node: &NodeProto) -> Result<()> {
        self.chained(node, 0)?;
        let (outputs, weights) = self.matrix(node, false)?;
        self.dense(outputs, weights, vec![0.0; outputs])
    }

    fn dense(&mut self, outputs: usize, weights: Vec<f32>, bias: Vec<f32>) -> Result<()> {
        // Nodes can share a constant: the size of the file does not bound that of the chain.
        self.weights += weights.len();
        if self.weights > MAX_WEIGHTS {
            return Err(format!("more than {MAX_WEIGHTS} weights"));
        }
        self.layers.push(Layer::Dense {
            inputs: self.width,
            outputs,
            weights,
            bias,
        });
        self.width = outputs;
        Ok(())
    }

    /// The matrix that a node multiplies with: number of outputs, and the weights of each output in turn.
    fn matrix(&self, node: &NodeProto, transposed: bool) -> Result<(usize, Vec<f32>)> {
        let name = node.input.get(1).ok_or("no second input")?;
        let constant = self.constant(name)?;
        let &[rows, columns] = constant.dims.as_slice() else {
            return Err(format!("{name:?} is no matrix"));
        };
        let (inputs, outputs) = if transposed {
            (columns, rows)
        } else {
            (rows, columns)
        };
        if !(1..=MAX_WIDTH).contains(&outputs) {
            return Err(format!(
                "{name:?} gives {outputs} numbers, not 1 to {MAX_WIDTH}"
            ));
        }
        if inputs != self.width {
            return Err(format!(
                "{name:?} takes {inputs} numbers, not {}",
                self.width
            ));
        }
        let values = &constant.values;
        let weights = if transposed {
            values.clone()
        } else {
            let by_output = |output| (0..inputs).map(move |input| values[input * outputs + output]);
            (0..outputs).flat_map(by_output).collect()
        };
        Ok((outputs, weights))
    }

    fn arithmetic(&mut self, node: &NodeProto) -> Result<()> {
        let second = node.input.get(1).ok_or("no second input")?;
        let commutes = matches!(node.op_type.as_str(), "Add" | "Mul");
        let constant = if commutes && self.end == second {
            self.constant(&node.input[0])?
        } else {
            self.chained(node, 0)?;
            self.constant(second)?
        };
        let values = constant.row(self.width)?;
        let (ones, zeros) = (vec![1.0; self.width], vec![0.0; self.width]);
        let (scale, shift) = match node.op_type.as_str() {
            "Add" => (ones, values),
            "Sub" => (ones, values.into_iter().map(|x| -x).collect()),
            "Mul" => (values, zeros),
            _ => (values.into_iter().map(|x| 1.0 / x).collect(), zeros),
        };
        self.layers.push(Layer::Affine { scale, shift });
        Ok(())
    }

    /// The node goes on from the end of the chain.
    fn chained(&self, node: &NodeProto, input: usize) -> Result<()> {
        let name = node.input.get(input).ok_or("no input")?;
        if name == self.end {
            Ok(())
        } else {
            Err(format!(
                "it takes {name:?}, not {:?} of the node before: only chains are run here",
                self.end
            ))
        }
    }

    fn constant(&self, name: &str) -> Result<&Constant> {
        self.constants
            .get(name)
            .ok_or_else(|| format!("{name:?} is no constant"))
    }
}

impl Constant {
    fn new(tensor: &TensorProto) -> Result<Self> {
        let name = &tensor.name;
        if tensor.data_type != FLOAT {
            return Err(format!("{name:?} holds no 32-bit floats"));
        }
        if tensor.data_location == EXTERNAL {
            return Err(format!("the weights of {name:?} are in another file"));
        }
        let dims = tensor.dims.iter().map(|dim| usize::try_from(*dim).ok());
        let dims: Option<Vec<usize>> = dims.collect();
        let dims = dims.ok_or_else(|| format!("{name:?} has negative dimensions"))?;
        let length = dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(*dim));
        let values = if tensor.raw_data.is_empty() {
            tensor.float_data.clone()
        } else {
            let (floats, rest) = tensor.raw_data.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(format!("{name:?} ends within a number"));
            }
            floats.iter().map(|x| f32::from_le_bytes(*x)).collect()
        };
        if length != Some(values.len()) || values.len() > MAX_WEIGHTS {
            return Err(format!(
                "{name:?} has {} numbers, its dimensions are {dims:?}",
                values.len()
            ));
        }
        Ok(Self { dims, values })
    }

    /// The same for every observation, as one number for each of `width` activations.
    fn row(&self, width: usize) -> Result<Vec<f32>> {
        match self.values.as_slice() {
            [value] => Ok(vec![*value; width]),
            values if values.len() == width && self.dims.last() == Some(&width) => {
                Ok(values.to_vec())
            }
            values => Err(format!("{} numbers do not fit {width}", values.len())),
        }
    }
}

fn activation(node: &NodeProto) -> Option<Activation> {
    Some(match node.op_type.as_str() {
        "Relu" => Activation::Relu,
        "LeakyRelu" => Activation::LeakyRelu(float(node, "alpha", 0.01)),
        "Tanh" => Activation::Tanh,
        "Sigmoid" => Activation::Sigmoid,
        "Softmax" => Activation::Softmax,
        _ => return None,
    })
}

/// Width of the input: its last dimension, after that of the batch.
fn width(input: &ValueInfoProto) -> Result<usize> {
    let tensor = input.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let dims = tensor.and_then(|t| t.shape.as_ref()).map(|s| &s.dim);
    match dims.map(Vec::as_slice) {
        Some([_, last]) => match &last.value {
            Some(DimensionValue::DimValue(width)) => usize::try_from(*width).ok(),
            _ => None,
        },
        _ => None,
    }
    .filter(|width| (1..=MAX_WIDTH).contains(width))
    .ok_or_else(|| {
        format!(
            "its input {:?} is not batch × a fixed width of 1 to {MAX_WIDTH}",
            input.name
        )
    })
}

fn attribute<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|a| a.name == name)
}

fn integer(node: &NodeProto, name: &str, default: i64) -> i64 {
    attribute(node, name).map_or(default, |a| a.i)
}

fn float(node: &NodeProto, name: &str, default: f32) -> f32 {
    attribute(node, name).map_or(default, |a| a.f)
}
