import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { clientFiles, clientFolder } from '../../scripts/client/client-files.ts'
import {
  exampleBody,
  halvesOf,
  interfacesOf,
  type Json,
  operationsOf,
} from '../support/openapi-operations.ts'
import { runningService } from '../support/running-service.ts'
import { typeErrorsIn } from '../support/type-errors.ts'

const service = runningService()
let document: Json = {}

beforeAll(async () => {
  document = (await service.api.request<Json>('GET', '/openapi.json')).body
})

test.each(['operations.ts', 'errors.ts'])('%s is as `npm run docs` writes it', (name) => {
  expect(readFileSync(join(clientFolder, name), 'utf8')).toBe(clientFiles(document)[name])
})

test('the examples of the document are of the types that the client has', () => {
  const lines = operationsOf(document)
    .flatMap(halvesOf)
    .flatMap((operation) => {
      const [one = 'bearer'] = interfacesOf(operation)
      const type = `${one === 'bearer' ? 'Operations' : 'OperationsByKey'}['${operation.operationId}']`
      const answers = Object.entries(operation.responses).flatMap(([status, { content }]) => {
        const example = content?.['application/json']?.['example']
        return status.startsWith('2') && example !== undefined
          ? [[`${type}['answer']`, example]]
          : []
      })
      const takesJson = operation.requestBody?.content['application/json'] !== undefined
      return [...answers, ...(takesJson ? [[`${type}['body']`, exampleBody(operation)]] : [])]
    })
  const source = [
    `import type { Operations, OperationsByKey } from '${join(process.cwd(), clientFolder, 'call.ts')}'`,
    ...lines.map(
      ([type, example]) => `void (${JSON.stringify(example)} satisfies ${type as string})`,
    ),
  ]

  expect(lines.length).toBeGreaterThan(200)
  expect(typeErrorsIn(source.join('\n'))).toEqual([])
})
