import { docComment } from './doc-comment.ts'
import { type Json, memberOf, typeOf, unionOf } from './type-of-schema.ts'

export type Interface = 'bearer' | 'header-key'

/** What the generator reads of an operation of the document. */
export interface DocumentedOperation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly security: readonly Json[]
  readonly 'x-required-scope'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Json
}

type Content = Readonly<Record<string, { readonly schema: Json }>>

/** How the document names what an operation of both interfaces has in one of them. */
const titles: Readonly<Record<Interface, string>> = {
  bearer: 'With a bearer token',
  'header-key': 'With a key',
}

/** The interfaces that have an operation: both where the credentials are of neither, or none are needed. */
export function interfacesOf({ security }: DocumentedOperation): readonly Interface[] {
  const named = Object.entries({ bearer: 'bearer', 'header-key': 'apiKey' } as const)
    .filter(([, scheme]) => security.some((schemes) => scheme in schemes))
    .map(([one]) => one as Interface)
  return named.length === 0 ? ['bearer', 'header-key'] : named
}

/** Whether an operation has a shape of its own in each interface. */
export function hasHalves(operation: DocumentedOperation): boolean {
  const { parameters = [], requestBody, responses } = operation
  const contents = [requestBody, ...Object.values(responses)].map((part) => part?.content ?? {})
  return (
    parameters.some(({ description = '' }) => halfOf(description) !== undefined) ||
    contents.some((content) => shapesOf(content).length > 0)
  )
}

/** An operation as a member of the interface of all: what it takes, and what it answers, in one interface. */
export function operationMember(operation: DocumentedOperation, one: Interface): string {
  const { operationId, summary, description = '', parameters = [], requestBody } = operation
  const named = parameters.filter((parameter) => isOf(parameter, one))
  const parts = [
    parametersMember('path', named),
    parametersMember('query', named),
    ...(requestBody === undefined ? [] : bodyMembers(requestBody, one)),
    `readonly answer: ${answerType(operation, one)}`,
  ].filter((part) => part !== '')
  const comment = docComment([summary, ...description.split('\n\n')].filter(Boolean).join('\n\n'))
  return `${comment}readonly ${operationId}: { ${parts.join('\n')} }`
}

function parametersMember(place: 'path' | 'query', parameters: readonly Parameter[]): string {
  const members = parameters.filter((parameter) => parameter.in === place)
  if (members.length === 0) return ''
  const written = members.map(({ name, required, description = '', schema }) => {
    const rest = description.replace(/^With a (bearer token|key)\. ?/, '')
    return memberOf(name, { ...schema, ...(rest !== '' && { description: rest }) }, required)
  })
  const isNeeded = members.some(({ required }) => required)
  return `readonly ${place}${isNeeded ? '' : '?'}: { ${written.join('\n')} }`
}

/** A parameter that goes with the credentials of one interface says so at its beginning. */
function isOf({ description = '' }: Parameter, one: Interface): boolean {
  const half = halfOf(description)
  return half === undefined || half === one
}

function halfOf(description: string): Interface | undefined {
  const found = Object.entries(titles).find(([, title]) => description.startsWith(`${title}.`))
  return found?.[0] as Interface | undefined
}

type RequestBody = NonNullable<DocumentedOperation['requestBody']>

/** A body is JSON, or another type of bytes that goes with its name. */
function bodyMembers({ content, required = false }: RequestBody, one: Interface): string[] {
  const json = content[jsonType]
  const others = Object.keys(content).filter((type) => type !== jsonType)
  const isNeeded = required && others.length === 0
  const type = json && typeOf(shapeOf(json.schema, one))
  return [
    ...(type === undefined ? [] : [`readonly body${isNeeded ? '' : '?'}: ${type}`]),
    ...(others.length === 0 ? [] : [`readonly rawType: ${unionOf(others.map(quoted))}`]),
  ]
}

const jsonType = 'application/json'

/** What it answers when all is well: JSON as its type, where there is any; else text or bytes. */
function answerType({ responses }: DocumentedOperation, one: Interface): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const contents = good.map(([, { content }]) => content ?? {})
  const json = contents.flatMap((content) => content[jsonType] ?? [])
  const types = contents.flatMap((content) => Object.keys(content))
  const isEmpty = contents.some((content) => Object.keys(content).length === 0)
  const shown =
    json.length > 0
      ? json.map(({ schema }) => typeOf(shapeOf(schema, one)))
      : [...new Set(types)].map(rawAnswerType)
  return unionOf([...shown, ...(isEmpty ? ['undefined'] : [])])
}

/** A stream of events has no end that one could wait for: `open` follows it. */
function rawAnswerType(type: string): string {
  if (type === 'text/event-stream') return 'never'
  return /^text\/|ndjson$/.test(type) ? 'string' : 'Uint8Array'
}

/** The shape of one interface, where a schema has one for each. */
function shapeOf(schema: Json, one: Interface): Json {
  const half = titledIn(schema).find(({ title }) => title === titles[one])
  if (half === undefined) return schema
  const { title: _, ...rest } = half
  return rest
}

function shapesOf(content: Content): readonly Json[] {
  return Object.values(content).flatMap(({ schema }) => titledIn(schema))
}

function titledIn({ oneOf, anyOf }: Json): readonly Json[] {
  const shapes = (oneOf ?? anyOf ?? []) as readonly Json[]
  return shapes.filter(({ title }) => Object.values(titles).includes(title as string))
}

/** A text as a literal of the language. */
export function quoted(text: string): string {
  return JSON.stringify(text)
}
