import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Constructor {
  readonly file: string
  /** Texts of its parameters. */
  readonly parameters: readonly string[]
  readonly body: string
  /** Names of the private fields that keep their value. */
  readonly fields: ReadonlySet<string>
}

const product = globSync(['src/**/*.ts', 'connectors/**/*.ts', 'processors/*.ts'])

function constructorsIn(file: string): Constructor[] {
  const text = readFileSync(file, 'utf8')
  return text.split(/^(?=(?:export )?(?:abstract )?class )/m).flatMap((part) => {
    const found = /^ {2}(?:\w+ )?constructor\(([\s\S]*?)\) \{([\s\S]*?)^ {2}\}/m.exec(part)
    if (found === null) return []
    const [, parameters = '', body = ''] = found
    const fields = part.matchAll(/^ {2}readonly (#\w+)[:;\s]/gm).map(([, name = '']) => name)
    return [{ file, parameters: partsOf(parameters), body, fields: new Set(fields) }]
  })
}

/** The parts of a list, at its commas that are in no brackets. */
function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [token] of list.matchAll(/=>|[\s\S]/g)) {
    if (/^[({[<]$/.test(token)) depth++
    else if (/^[)}\]>]$/.test(token)) depth--
    if (token === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** Members of `{ a, b: c, d = 1 }` that keep their value: one with a default may get another. */
function membersOf(pattern: string): string[] {
  return partsOf(pattern).flatMap((member) =>
    member.includes('=') || member.startsWith('...') ? [] : [member.replace(/^\w+: /, '')],
  )
}

/** Fields that are nothing but a member of an object that the constructor was given. */
function copiesOf({ parameters, body, fields }: Constructor): string[] {
  const objects = parameters.map((parameter) => /^\w+/.exec(parameter)?.[0] ?? '')
  const taken = parameters.map((parameter) => /^\{([^}]*)\}/.exec(parameter)?.[1] ?? '')
  const destructured = body
    .matchAll(/const \{([^}]*)\} =\s+(\w+)$/gm)
    .flatMap(([, pattern = '', object = '']) => (objects.includes(object) ? [pattern] : []))
  const members = new Set([...taken, ...destructured].flatMap(membersOf))
  return [...body.matchAll(/this\.(#\w+) = (\w+)(\.\w+)?$/gm)].flatMap(
    ([, field = '', name = '', member]) => {
      const isCopied = member === undefined ? members.has(name) : objects.includes(name)
      return isCopied && fields.has(field) ? [field] : []
    },
  )
}

function isRequired(parameter: string): boolean {
  return !/^\w+\?:|[^=!<>]=[^=>]/.test(parameter)
}

function filesOf(found: readonly Constructor[]): string[] {
  return [...new Set(found.map(({ file }) => file))].toSorted()
}

describe('constructors', () => {
  const all = product.flatMap(constructorsIn)

  test('a class holds the object of its needs, and no copies of its members', () => {
    expect(all.length).toBeGreaterThan(300)
    expect(filesOf(all.filter((one) => copiesOf(one).length > 0))).toEqual([
      // Values that each packet, character or reading asks for are at hand at once.
      'connectors/mqtt-broker/guard/packet-check.ts',
      'processors/csv-lines.ts',
      'processors/scan.ts',
      'src/ingest/pipeline/journalled-reading.ts',
    ])
  })

  test('a class that takes more than two things takes them as one object', () => {
    const many = all.filter(({ parameters }) => {
      // Beside needs that many share there may be what this one is about.
      return parameters.filter(isRequired).length > 2 && !parameters[0]?.startsWith('needs:')
    })
    expect(filesOf(many)).toEqual([
      // They are made for each payload, field or reading, and an object more would be garbage at once.
      'processors/decode-protobuf.ts',
      'processors/protobuf-message.ts',
      'src/ingest/pipeline/journalled-reading.ts',
    ])
  })
})
