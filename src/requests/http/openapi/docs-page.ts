import { errorCatalogue } from '../../../core/error-catalogue.ts'
import type { JsonSchema } from '../schema.ts'

interface Operation extends JsonSchema {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

interface Answer {
  readonly description: string
  readonly content?: Content
}

type Content = Readonly<Record<string, Media>>

interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
  /** Instead: one for each interface. */
  readonly examples?: Readonly<Record<string, NamedExample>>
}

interface NamedExample {
  readonly summary: string
  readonly value: unknown
}

interface Place {
  readonly method: string
  readonly path: string
}

/**
 * The OpenAPI document as a page for people: plain HTML without a script, so that it works under
 * the strictest policy and without a network.
 */
export function docsPage(document: JsonSchema): string {
  const info = document['info'] as { title: string; version: string; description: string }
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const tags = document['tags'] as readonly { name: string; description: string }[]
  const groups = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
  const links = groups.map(
    ({ name, operations: ofTag }) =>
      `<li>${escaped(name)}<ul>${ofTag.map(({ operation }) => link(operation)).join('')}</ul></li>`,
  )
  const sections = groups.map(
    ({ name, description, operations: ofTag }) =>
      `<h2>${escaped(name)}</h2><p>${escaped(description)}</p>` +
      ofTag.map(({ operation, ...place }) => operationSection(operation, place)).join(''),
  )
  const title = `${info.title} ${info.version}`
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title><link rel="stylesheet" href="/docs/style.css"></head><body>`,
    `<nav aria-label="Operations"><ul>${links.join('')}</ul><a href="#errors">Errors</a></nav>`,
    `<main><h1>${escaped(title)}</h1><p>${escaped(info.description)}</p>`,
    '<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), and of MQTT and WebSockets ',
    '<a href="/asyncapi.json">asyncapi.json</a> (AsyncAPI 3.0).</p>',
    ...sections,
    errorsSection(),
    namedSchemas(document),
    '</main></body></html>',
  ].join('\n')
}

function link({ operationId, summary }: Operation): string {
  return `<li><a href="#${operationId}">${escaped(summary)}</a></li>`
}

function operationSection(operation: Operation, { method, path }: Place): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const paragraphs = (description ?? '').split('\n\n').filter(Boolean)
  return [
    `<article id="${operationId}"><h3><code class="${method}">${method.toUpperCase()}</code>`,
    `<code>${escaped(path)}</code></h3><p>${escaped(summary)}</p>`,
    ...paragraphs.map((paragraph) => `<p>${marked(paragraph)}</p>`),
    parameters === undefined ? '' : parameterTable(parameters),
    requestBody === undefined ? '' : `<h4>Body</h4>${contentBlocks(requestBody.content)}`,
    ...Object.entries(responses).map(([status, answer]) => answerBlock(status, answer)),
    '</article>',
  ].join('')
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description = '', schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${place}${required ? ', required' : ''}</td>` +
      `<td><code>${escaped(JSON.stringify(schema))}</code></td><td>${marked(description)}</td></tr>`,
  )
  return `<h4>Parameters</h4><table>${rows.join('')}</table>`
}

/** What all is well with is shown in full; failures are a line each. */
function answerBlock(status: string, { description, content = {} }: Answer): string {
  const text = description.split('\n\n').map(marked).join('<br>')
  if (Number(status) >= 400) return `<p class="error"><b>${status}</b> ${text}</p>`
  return `<h4>${status}</h4><p>${text}</p>${contentBlocks(content)}`
}

function contentBlocks(content: Content): string {
  const blocks = Object.entries(content).map(([type, { schema, example, examples }]) => {
    const named = Object.values(examples ?? {}).map(
      ({ summary, value }) => `<p>${escaped(summary)}</p>${exampleBlock(value)}`,
    )
    const shown = examples === undefined ? exampleBlock(example) : named.join('')
    const source = JSON.stringify(schema, null, 2)
    return (
      `<p><code>${escaped(type)}</code></p>${shown}` +
      `<details><summary>Schema</summary><pre>${linked(source)}</pre></details>`
    )
  })
  return blocks.join('')
}

function exampleBlock(example: unknown): string {
  const shown = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return `<pre>${escaped(shown)}</pre>`
}

function errorsSection(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, meaning, remedy, retryable }]) =>
      `<tr><td><code>${code}</code></td><td>${status}</td><td>${escaped(meaning)}</td>` +
      `<td>${escaped(remedy)}</td><td>${retryable ? 'again' : ''}</td></tr>`,
  )
  return `<h2 id="errors">Errors</h2><table>${rows.join('')}</table>`
}

function namedSchemas(document: JsonSchema): string {
  const { schemas } = document['components'] as { readonly schemas: Readonly<JsonSchema> }
  const sections = Object.entries(schemas).map(
    ([name, schema]) =>
      `<h3 id="schema-${name}">${name}</h3><pre>${linked(JSON.stringify(schema, null, 2))}</pre>`,
  )
  return `<h2>Schemas</h2>${sections.join('')}`
}

/** JSON with its references as links. */
function linked(json: string): string {
  return escaped(json).replaceAll(
    /#\/components\/schemas\/(\w+)/g,
    '<a href="#schema-$1">#/components/schemas/$1</a>',
  )
}

/** Backticks become code: the only mark that our descriptions use. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
