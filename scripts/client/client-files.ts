import { spawnSync } from 'node:child_process'
import { docComment } from './doc-comment.ts'
import {
  type DocumentedOperation,
  hasHalves,
  interfacesOf,
  operationMember,
  quoted,
} from './operation-type.ts'
import { componentName, type Json, typeOf } from './type-of-schema.ts'

/** Where the client is. */
export const clientFolder = 'clients/typescript'

/** The files of the client that follow from an OpenAPI document, by their names, as they are written. */
export function clientFiles(document: Json): Readonly<Record<string, string>> {
  return {
    'operations.ts': formatted(operationsFile(document)),
    'errors.ts': formatted(errorsFile(document)),
  }
}

const introduction =
  '// Made from the OpenAPI document of the service by `npm run docs`; do not edit.\n\n'

function operationsFile(document: Json): string {
  const operations = operationsOf(document)
  const shared = operations.filter((one) => isShared(one))
  const [bearer, key] = (['bearer', 'header-key'] as const).map((one) =>
    operations
      .filter((operation) => !isShared(operation) && interfacesOf(operation).includes(one))
      .map((operation) => operationMember(operation, one)),
  )
  return [
    introduction,
    docComment('Operations that are the same with a bearer token and with a key.'),
    interfaceOf(
      'SharedOperations',
      shared.map((one) => operationMember(one, 'bearer')),
    ),
    docComment('What a bearer token has, or has in a shape of its own.'),
    interfaceOf('BearerOperations', bearer ?? []),
    docComment('What a key has, or has in a shape of its own.'),
    interfaceOf('KeyOperations', key ?? []),
    docComment('Method and path of each operation.'),
    `export const operationPaths = { ${operations
      .map(({ operationId, method, path }) => `${operationId}: ${quoted(`${method} ${path}`)},`)
      .join('\n')} } as const\n`,
    docComment(
      'The permission that each operation needs, or several with spaces between them; `any`: good credentials are enough.',
    ),
    `export const operationScopes = { ${operations
      .flatMap(({ operationId, 'x-required-scope': scope }) =>
        scope === undefined ? [] : [`${operationId}: ${quoted(scope)},`],
      )
      .join('\n')} } as const\n`,
    ...componentsOf(document),
  ].join('')
}

/** Operations in the order of their ids, which no change of the routes moves. */
function operationsOf(document: Json): readonly DocumentedOperation[] {
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Json>>>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        ({ ...operation, method: method.toUpperCase(), path }) as unknown as DocumentedOperation,
    ),
  )
  return operations.toSorted((one, other) => (one.operationId < other.operationId ? -1 : 1))
}

function isShared(operation: DocumentedOperation): boolean {
  return interfacesOf(operation).length === 2 && !hasHalves(operation)
}

function interfaceOf(name: string, members: readonly string[]): string {
  return `export interface ${name} {\n${members.join('\n')}\n}\n`
}

function componentsOf(document: Json): string[] {
  const { schemas } = document['components'] as {
    readonly schemas: Readonly<Record<string, Json>>
  }
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const { description } = schema
    return [
      typeof description === 'string' ? docComment(description) : '',
      `export type ${componentName(name)} = ${typeOf(schema)}\n`,
    ]
  })
}

function errorsFile(document: Json): string {
  const codes = document['x-error-codes'] as Readonly<Record<string, Json>>
  const entries = Object.entries(codes).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [
    introduction,
    docComment('What each code of an error answer means, and what to do about it.'),
    `export const errorCatalogue = { ${entries
      .map(([code, entry]) => `${code}: ${JSON.stringify(entry)},`)
      .join('\n')} } as const\n`,
    docComment('A code that the service answers.'),
    'export type ErrorCode = keyof typeof errorCatalogue\n',
  ].join('')
}

/** A source as the formatter of the project leaves it. */
function formatted(source: string): string {
  const { status, stdout, stderr } = spawnSync(
    'node_modules/.bin/biome',
    ['format', '--stdin-file-path=clients/typescript/made.ts'],
    { input: source, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  if (status !== 0) throw new Error(`the formatter refuses what was made: ${stderr}`)
  return stdout
}
