import { DockerfileParser, ModifiableInstruction } from 'dockerfile-ast'

/** An instruction of a Dockerfile: its keyword in capitals, `--name=value`, and the rest on one line. */
export interface Step {
  readonly keyword: string
  readonly flags: Readonly<Record<string, string>>
  readonly text: string
}

/** The instructions in their order, without comments. */
export function stepsOf(dockerfile: string): readonly Step[] {
  return DockerfileParser.parse(dockerfile)
    .getInstructions()
    .map((instruction) => {
      const text = instruction.getRawArgumentsContent() ?? ''
      const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : []
      return {
        keyword: instruction.getKeyword(),
        flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
        text: text.replaceAll(/\\\n\s*/g, ' '),
      }
    })
}

/** Words of an instruction, without the quotes around them; the members of an array where it has that form. */
export function wordsOf(text: string): readonly string[] {
  if (text.startsWith('[')) return JSON.parse(text) as readonly string[]
  return [...text.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ''))
}

/** A text with the values of `$NAME` and `${NAME}`; what has none is empty. */
export function expanded(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced?: string, bare = '') => values[braced ?? bare] ?? '',
  )
}
