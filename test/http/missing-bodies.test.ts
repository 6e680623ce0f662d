import { expect, test } from 'vitest'
import { abusedOperations } from '../support/abused-operations.ts'
import { type Json, operationsOf } from '../support/openapi-operations.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

test('an operation that needs a body refuses a request without one, and without a content type', async () => {
  const { api, process } = service
  const { body: document } = await api.withKey<Json>('GET', '/openapi.json')
  const needing = operationsOf(document).filter(({ requestBody }) => requestBody?.required)
  const names = new Set(needing.map(({ method, path }) => `${method} ${path}`))
  const others: string[] = []
  let asked = 0
  for (const { name, request } of await abusedOperations(service)) {
    if (!names.has(name)) continue
    asked++
    const headers = request.headers
      .filter((header) => !header.startsWith('Content-Type'))
      .map((header): [string, string] => {
        const [, key = '', value = ''] = /^([^:]+): (.*)$/.exec(header) ?? []
        return [key, value]
      })
    const { status } = await fetch(process.http + request.path, { method: request.method, headers })
    if (status < 400 || status >= 500) others.push(`${name}: ${status}`)
  }

  expect(asked).toBeGreaterThan(20)
  expect(others).toEqual([])
}, 120_000)
