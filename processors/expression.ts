import { createRequire } from 'node:module'
import type { CelInput, CelValue } from '@bufbuild/cel'
import type { Allowance } from '../src/contracts/reading.ts'
import type { FieldDefinition, FieldMap } from '../src/contracts/stream-schema.ts'
import { type Cel, functionsOf } from './expression-functions.ts'
import { Meter } from './expression-meter.ts'
import { ExpressionProblem, metered, sizeOf, usageOf } from './expression-tree.ts'

/** The text of an expression. */
const lengthMax = 1_000

/** Brackets within brackets: what recursion can follow without a thought. */
const depthMax = 32

/**
 * Steps of about 0.1 microseconds that one evaluation may take: one step is an operation, an
 * element of a list, or 8 characters of a text.
 */
const stepsMax = 5_000

/** A value that an expression has resulted in, or why it has not. */
export type Evaluated =
  | { readonly value: CelValue; readonly problem?: never }
  | { readonly problem: string }

/** The values of a reading, by field. */
export type Values = Readonly<Record<string, unknown>>

/** An expression that is ready to be evaluated. Pure. */
export type Expression = (
  values: Values,
  timestamp: () => string,
  allowance?: Allowance,
) => Evaluated

/** The name under which an expression finds the time of the reading. */
const timeName = 'timestamp'

/** @throws ExpressionProblem saying what is wrong with the text */
export function compileExpression(text: string, fields: FieldMap): Expression {
  if (text.length > lengthMax) {
    throw new ExpressionProblem(`has more than ${lengthMax} characters`)
  }
  if (nesting(text) > depthMax) {
    throw new ExpressionProblem(`has more than ${depthMax} brackets within each other`)
  }
  const { cel, env, meter } = engine()
  const { expr } = parsed(cel, text)
  const { names, builds } = usageOf(expr, new Set([...Object.keys(fields), timeName]))
  const used = [...names].map((name) => ({ name, field: fields[name] ?? timeField }))
  const isPlain = !builds && used.every(({ field }) => plainTypes.has(field.type))
  const run = cel.plan(env, isPlain ? expr : metered(expr))
  const size = sizeOf(expr)

  return (values, timestamp, allowance) => {
    if (allowance !== undefined && allowance.left <= 0) return { problem: tooMuchTogether }
    meter.left = stepsMax
    const { stackTraceLimit } = Error
    // Within a loop failures are ordinary, and their stacks would take longer than all the rest.
    Error.stackTraceLimit = 0
    try {
      const bound: Record<string, CelInput> = {}
      for (const { name, field } of used) {
        const value = name === timeName ? timestamp() : values[name]
        bound[name] = inputOf(value, field, meter)
      }
      const result = run(bound)
      // A loop that was stopped may still have a result, which is not the right one.
      if (meter.left < 0) meter.take(0)
      return cel.isCelError(result) ? { problem: result.message } : { value: result }
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) }
    } finally {
      Error.stackTraceLimit = stackTraceLimit
      if (allowance !== undefined) allowance.left -= size + stepsMax - meter.left
    }
  }
}

const tooMuchTogether =
  'the readings before it in the same message took all the work that one may take: send fewer at once'

/** An expression can do no more than a few hundred operations with values of these types. */
const plainTypes: ReadonlySet<string> = new Set(['number', 'integer', 'boolean'])

const timeField: FieldDefinition = { type: 'datetime' }

function parsed(cel: Cel, text: string): ReturnType<Cel['parse']> {
  try {
    return cel.parse(text)
  } catch (error) {
    throw new ExpressionProblem(error instanceof Error ? error.message : String(error))
  }
}

/** A field that is absent is null. Objects become maps: nothing of them is inherited. */
function inputOf(value: unknown, field: FieldDefinition | undefined, meter: Meter): CelInput {
  if (typeof value === 'number') return field?.type === 'integer' ? BigInt(value) : value
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    meter.take(value.length)
    return value.map((item) => inputOf(item, field?.items, meter))
  }
  const members = Object.entries(value)
  meter.take(members.length)
  const fields = field?.fields ?? {}
  return new Map(
    members.map(([name, member]) => {
      const known = Object.hasOwn(fields, name) ? fields[name] : undefined
      return [name, inputOf(member, known, meter)]
    }),
  )
}

/** Deepest nesting of brackets, those within texts included. */
function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  for (const character of text) {
    if (character === '(' || character === '[' || character === '{') {
      deepest = Math.max(deepest, ++depth)
    } else if (character === ')' || character === ']' || character === '}') {
      depth = Math.max(0, depth - 1)
    }
  }
  return deepest
}

interface Engine {
  readonly cel: Cel
  readonly env: ReturnType<Cel['celEnv']>
  /** Shared by all expressions: one is evaluated at a time. */
  readonly meter: Meter
}

let made: Engine | undefined

/** Loaded when the first expression is compiled: most services have none. */
function engine(): Engine {
  if (made === undefined) {
    const cel = createRequire(import.meta.url)('@bufbuild/cel') as Cel
    const meter = new Meter()
    made = { cel, meter, env: cel.celEnv({ funcs: functionsOf(cel, meter) }) }
  }
  return made
}
