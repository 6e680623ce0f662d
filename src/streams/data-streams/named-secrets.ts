import { headerValueProblem } from '../../../connectors/fields/http-requests.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { type Field, type Fields, newField, text } from '../../contracts/definitions/fields.ts'
import { type Json, Problems, type Rule } from '../../contracts/definitions/problems.ts'
import { secretMark } from '../../contracts/definitions/secret-mark.ts'
import type { SecretPlace } from '../../contracts/definitions/source-kind.ts'
import { cutText } from '../../core/cut-text.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { inQuery, marksOf } from './source-kinds.ts'

/** Secrets of one source. */
const secretsMax = 20

/** A name, as it stands in `${name}`. */
const namePattern = /^(?!__proto__$)[A-Za-z_]\w{0,62}$/

const placeholders = /\$\{([^{}]*)\}/g

/** Secrets by their names: each is put in the place of `${name}`, and shown to nobody. */
const namedSecrets: Rule = (value, key, problems) => {
  if (!isObject(value)) {
    problems.add(key, 'must be an object of texts')
    return
  }
  const entries = Object.entries(value)
  if (entries.length === 0 || entries.length > secretsMax) {
    problems.add(key, `must have 1 to ${secretsMax} entries`)
  }
  const inner = problems.within(key)
  for (const [name, secret] of entries) {
    if (!namePattern.test(name)) {
      inner.add(cutText(name, 100), 'must be a name of 1 to 63 letters, digits and _')
    }
    text.rule(secret, name, inner)
    const problem = typeof secret === 'string' ? secretProblem(secret) : undefined
    if (problem !== undefined) inner.add(name, problem)
  }
}

/** The key of a source in which its secrets stand. */
export const secretsField = {
  ...newField<Readonly<Record<string, string>>>(namedSecrets, {
    type: 'object',
    minProperties: 1,
    maxProperties: secretsMax,
    propertyNames: { pattern: String.raw`^[A-Za-z_]\w{0,62}$` },
    additionalProperties: text.schema,
  }),
  isSecret: true,
  doc: '[secrets by their names](api-pull.md#secrets-in-other-places), for `${name}` in other keys',
} as const

function secretProblem(secret: string): string | undefined {
  if (!secret.isWellFormed() || secret.includes('\0')) return 'must be text without U+0000'
  // In a path they would lead somewhere else, however they are written.
  return secret === '.' || secret === '..' ? 'must be more than dots' : undefined
}

/** What a source is held to: where its secrets may stand, and how an endpoint has to look. */
export interface SecretRules {
  readonly places: readonly SecretPlace[]
  /** Names in `${…}` that are those of no secrets. */
  readonly marks: readonly string[]
  readonly fields: Fields
}

/**
 * Says what is wrong with the use of secrets: a `${name}` of none, a secret that is used nowhere, and one that cannot
 * stand where it is used. Of a kept secret, which has a mark in its place, only its use is looked at.
 */
export function checkNamedSecrets(
  source: Json,
  { places, marks, fields }: SecretRules,
  problems: Problems,
): void {
  const secrets = secretsIn(source)
  const used = new Set<string>()
  for (const [path, template] of templatesOf(source, places)) {
    for (const name of namesIn(template)) {
      const isMark = path === 'subscribe' && marks.includes(name)
      if (Object.hasOwn(secrets, name)) used.add(name)
      else if (!isMark)
        problems.add(path, `names a secret that is not in secrets: ${cutText(name, 100)}`)
    }
  }
  const mayBeHidden = hasMark(source['headers'])
  for (const [name, secret] of Object.entries(secrets)) {
    if (used.has(name) || mayBeHidden || secret === secretMark) continue
    problems
      .within('secrets')
      .add(name, `is used nowhere: put it where \${${cutText(name, 63)}} stands`)
  }
  if (places.includes('endpoint'))
    checkEndpoint(source, { secrets, field: fields['endpoint'] }, problems)
  checkHeaders(source, secrets, problems)
}

/** Without the kept secrets that nothing uses any more. @param kept all secrets, by their place in the source */
export function withoutUnused(source: Json, kept: Readonly<Record<string, string>>): Json {
  const { secrets, ...rest } = source
  if (!isObject(secrets)) return source
  const headers = isObject(rest['headers']) ? withKept(rest['headers'], kept) : {}
  const used = new Set(
    templatesOf({ ...rest, headers }, everyPlace).flatMap(([, template]) => namesIn(template)),
  )
  const left = Object.entries(secrets).filter(
    ([name, secret]) => secret !== secretMark || used.has(name),
  )
  return left.length === 0 ? rest : { ...rest, secrets: Object.fromEntries(left) }
}

/** Problems of a source whose kept secrets are put in, headers with secrets in them among these. */
export function namedSecretProblems(source: Json): readonly ErrorDetail[] {
  const found: ErrorDetail[] = []
  checkNamedSecrets(
    source,
    { places: everyPlace, marks: marksOf(source), fields: {} },
    new Problems('source', found),
  )
  return found
}

const everyPlace: readonly SecretPlace[] = ['endpoint', 'headers', 'body', 'subscribe', 'query']

/**
 * A source as who connects needs it: with its secrets where their names stand, each written as its place wants it.
 * What a WebSocket is told when it is open is left to who tells it.
 */
export function expanded(source: Json): Json {
  const secrets = secretsIn(source)
  if (Object.keys(secrets).length === 0) return source
  const { endpoint, headers, body, query } = source
  const filled: Record<string, unknown> = { ...source }
  if (isAddress(endpoint)) filled['endpoint'] = filledIn(endpoint, secrets, inAddress)
  const dressed = isObject(headers) ? withHeaders(headers, secrets) : undefined
  if (dressed !== undefined) filled['headers'] = dressed
  if (body !== undefined) filled['body'] = filledBody(body, secrets, typeOf(dressed))
  if (typeof query === 'string') {
    filled['query'] = filledIn(query, secrets, (secret) => inQuery(source, secret))
  }
  return filled
}

function secretsIn({ secrets }: Json): Readonly<Record<string, string>> {
  if (!isObject(secrets)) return {}
  const texts = Object.entries(secrets).filter(([, secret]) => typeof secret === 'string')
  return Object.fromEntries(texts) as Readonly<Record<string, string>>
}

function hasMark(headers: unknown): boolean {
  return isObject(headers) && Object.values(headers).includes(secretMark)
}

function withKept(headers: Json, kept: Readonly<Record<string, string>>): Json {
  const whole = Object.entries(headers).map(([name, value]) => [
    name,
    value === secretMark ? kept[`headers.${name}`] : value,
  ])
  return Object.fromEntries(whole) as Json
}

/** A text with its path in the source. */
type Template = readonly [path: string, template: string]

/** The texts that may have `${name}` in them. */
function templatesOf(source: Json, places: readonly SecretPlace[]): readonly Template[] {
  return places.flatMap((place): readonly Template[] => {
    const value = source[place]
    if (value === undefined) return []
    if (place === 'headers') {
      const values = isObject(value) ? Object.entries(value) : []
      return values.map(([name, one]) => [`headers.${cutText(name, 200)}`, String(one)])
    }
    if (place === 'endpoint' && !isAddress(value)) return []
    return [[place, typeof value === 'string' ? value : (JSON.stringify(value) ?? '')]]
  })
}

function namesIn(template: string): readonly string[] {
  return [...template.matchAll(placeholders)].map(([, name = '']) => name)
}

/** Whether an endpoint is an address: that of a database is none. */
function isAddress(endpoint: unknown): endpoint is string {
  return typeof endpoint === 'string' && /^[a-z][a-z\d+.-]*:\/\//i.test(endpoint)
}

/** Whom we talk to is no secret, and is looked at before it is connected to; a fragment is sent to nobody. */
function checkEndpoint(
  source: Json,
  {
    secrets,
    field: ofEndpoint,
  }: {
    readonly secrets: Readonly<Record<string, string>>
    readonly field: Field | undefined
  },
  problems: Problems,
): void {
  const { endpoint } = source
  if (!isAddress(endpoint)) return
  const names = namesIn(endpoint).filter((name) => Object.hasOwn(secrets, name))
  if (names.length === 0) return
  const [one, other] = ['a', 'b'].map((value) =>
    URL.parse(filledIn(endpoint, secrets, () => value)),
  )
  const isInPlace =
    one?.origin === other?.origin && one?.host === other?.host && one?.username === other?.username
  const areSent = names.every((name) => {
    const without = Object.fromEntries(
      Object.entries(secrets).map(([key]) => [key, key === name ? 'b' : 'a']),
    )
    const changed = URL.parse(filledIn(endpoint, without, (value) => value))
    return changed?.pathname !== one?.pathname || changed?.search !== one?.search
  })
  if (!isInPlace || !areSent) {
    problems.add('endpoint', 'can have secrets in its path and its query only')
    return
  }
  if (names.some((name) => secrets[name] === secretMark)) return
  ofEndpoint?.rule(filledIn(endpoint, secrets, inAddress), 'endpoint', problems)
}

function checkHeaders(
  { headers }: Json,
  secrets: Readonly<Record<string, string>>,
  problems: Problems,
): void {
  if (!isObject(headers)) return
  for (const template of Object.values(headers)) {
    for (const name of namesIn(String(template))) {
      const problem = headerValueProblem(secrets[name] ?? '')
      if (problem !== undefined) problems.within('secrets').add(name, `${problem}: a header has it`)
    }
  }
}

function filledIn(
  template: string,
  secrets: Readonly<Record<string, string>>,
  written: (secret: string) => string,
): string {
  return template.replace(placeholders, (whole, name: string) =>
    Object.hasOwn(secrets, name) ? written(secrets[name] ?? '') : whole,
  )
}

function withHeaders(
  headers: Json,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    filledIn(String(value), secrets, (secret) => secret),
  ])
  return Object.fromEntries(filled) as Readonly<Record<string, string>>
}

function typeOf(headers: Readonly<Record<string, string>> | undefined): string {
  const found = Object.entries(headers ?? {}).find(
    ([name]) => name.toLowerCase() === 'content-type',
  )
  return found?.[1].split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** JSON stays JSON; a text is what the headers say that it is. */
function filledBody(
  body: unknown,
  secrets: Readonly<Record<string, string>>,
  type: string,
): unknown {
  if (typeof body !== 'string') {
    return JSON.parse(filledIn(JSON.stringify(body), secrets, inJson)) as unknown
  }
  if (/[/+]json$/.test(type)) return filledIn(body, secrets, inJson)
  if (/[/+]xml$/.test(type)) return filledIn(body, secrets, inXml)
  if (type === 'application/x-www-form-urlencoded') return filledIn(body, secrets, inForm)
  return filledIn(body, secrets, (secret) => secret)
}

/** RFC 3986, section 2.3: what is left as it is means the same everywhere in an address. */
function inAddress(secret: string): string {
  return encodeURIComponent(secret).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** As it stands between the quotes of JSON. */
function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1)
}

function inXml(secret: string): string {
  return secret.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function inForm(secret: string): string {
  return new URLSearchParams({ '': secret }).toString().slice(1)
}
