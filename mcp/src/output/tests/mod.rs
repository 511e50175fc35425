mod cases;
mod corpus;
mod planted;
mod reference;
