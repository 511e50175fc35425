mod cases;
mod planted;
mod reference;
