"""The course: every idea as a chapter that runs, with its worked numbers, a picture and questions.
`regard course` lists the chapters; contents.py names them."""
