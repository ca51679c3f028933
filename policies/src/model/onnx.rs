//! The messages of an ONNX file that a chain of layers needs (onnx.proto3 of ONNX 1.17; field numbers are its).
//!
//! What a reader does not know, protobuf skips; what this file leaves out matters to no network that is run here.

use prost::Message;

/// `TensorProto.DataType.FLOAT`.
pub const FLOAT: i32 = 1;
/// `AttributeProto.AttributeType.FLOAT`.
pub const ATTRIBUTE_FLOAT: i32 = 1;
/// `AttributeProto.AttributeType.INT`.
pub const ATTRIBUTE_INT: i32 = 2;

/// The file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// Version of the file format.
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    /// Who wrote it.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// The network.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Versions of the operators.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
}

/// Version of a set of operators.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    /// Empty: ONNX's own.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Its version.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// The network.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// Nodes, each after those whose outputs it takes.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Constants: the weights.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// What goes in; older files list the initializers too.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// What comes out.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

/// An operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Names of what it takes.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of what it gives.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Its own name.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Operator.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// Parameters.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Set of the operator.
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// A parameter of an operation.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Value, if a float.
    #[prost(float, tag = "2")]
    pub f: f32,
    /// Value, if an integer.
    #[prost(int64, tag = "3")]
    pub i: i64,
    /// Value, if a tensor.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// Kind of value.
    #[prost(int32, tag = "20")]
    pub r#type: i32,
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Dimensions; none: a scalar.
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    /// Type of the elements.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Elements, unless in `raw_data`.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Name.
    #[prost(string, tag = "8")]
    pub name: String,
    /// Elements, little endian.
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    /// 1: the elements are in another file.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// Name and type of an input or output.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// Type of a value.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// Set if it is a tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// Type of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    /// Type of the elements.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Its dimensions.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// Dimensions of a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct TensorShapeProto {
    /// One after the other.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// A dimension.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    /// Its size, or a name for one that is free.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
}

/// Size of a dimension.
#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum DimensionValue {
    /// Fixed.
    #[prost(int64, tag = "1")]
    DimValue(i64),
    /// Free.
    #[prost(string, tag = "2")]
    DimParam(String),
}
