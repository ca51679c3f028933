//! What an edge server links or runs: guidance client, UDP pacer, cantor-edge.
