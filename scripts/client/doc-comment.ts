const columnsMax = 90

/** A text of the document as a comment before what it is about, with an end of line. */
export function docComment(text: string): string {
  const lines = text.replaceAll('*/', '* /').split('\n').flatMap(wrapped)
  if (lines.length === 1) return `\n/** ${lines[0] ?? ''} */\n`
  return `\n/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

/** The lines of a paragraph: a word that is longer than a line has one for itself. */
function wrapped(paragraph: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of paragraph.split(' ')) {
    if (line !== '' && line.length + word.length >= columnsMax) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
