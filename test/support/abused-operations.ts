import { type Abuse, type AbusedPlace, type AbusedRequest, abuse } from './abusive-http.ts'
import { ForeignResources } from './foreign-resources.ts'
import {
  halvesOf,
  interfacesOf,
  type Json,
  neededQuery,
  type Operation,
  operationsOf,
} from './openapi-operations.ts'
import { newPerson, type Person } from './people.ts'
import type { RunningService } from './running-service.ts'
import { adminKey, adminSecret } from './service-process.ts'

const nobody = '00000000-0000-4000-8000-000000000000'

/** Connections at a time. */
const atOnce = 16

/** An operation with its path filled in, and who asks. */
export interface AbusedOperation {
  readonly name: string
  readonly request: AbusedRequest
}

/**
 * Every operation of the document with ids of things that are there, so that its handler is reached; those
 * that take either credentials with one and with the other, in turn.
 */
export async function abusedOperations(
  service: RunningService,
): Promise<readonly AbusedOperation[]> {
  const { api } = service
  const owner = await newPerson(api)
  const resources = new ForeignResources(service, owner)
  const { body: document } = await api.withKey<Json>('GET', '/openapi.json')
  const found: AbusedOperation[] = []
  for (const operation of operationsOf(document).flatMap(halvesOf)) {
    const { method, path } = operation
    const credentials = await credentialsOf(owner, operation, found.length)
    // The token of a link in a mail nobody has but its receiver, and a backup is a matter of the machine.
    const known = path.replace('{token}', 'none').replace('{backupId}', nobody)
    const [one] = interfacesOf(operation)
    const filled = (await resources.pathOf(known, one)) + neededQuery(operation)
    const { type, body } = bodyOf(operation)
    const headers = [...credentials, `Content-Type: ${type}`]
    found.push({ name: `${method} ${path}`, request: { method, path: filled, headers, body } })
  }
  return found
}

async function credentialsOf(
  owner: Person,
  { security, 'x-required-scope': scope }: Operation,
  number: number,
): Promise<readonly string[]> {
  if (scope === 'platform:admin') {
    return [`x-api-key: ${adminKey}`, `x-api-secret: ${adminSecret}`]
  }
  const interfaces = security.map((schemes) => ('bearer' in schemes ? 'bearer' : 'header-key'))
  const chosen = interfaces[number % Math.max(1, interfaces.length)]
  if (chosen === undefined) return []
  if (chosen === 'bearer') return [`Authorization: Bearer ${await owner.token()}`]
  return [`x-api-key: ${owner.key.apiKey}`, `x-api-secret: ${owner.key.apiSecret}`]
}

/** A body of the first type that it takes; one that it does not, where it takes none. */
function bodyOf({ requestBody }: Operation): { readonly type: string; readonly body: Buffer } {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [
    'application/json',
    undefined,
  ]
  const { examples, example } = (media?.schema ?? {}) as {
    readonly examples?: readonly unknown[]
    readonly example?: unknown
  }
  const shown = examples?.[0] ?? example ?? { name: 'abused', temperature: 21.5 }
  return { type, body: Buffer.from(typeof shown === 'string' ? shown : JSON.stringify(shown)) }
}

/** Does things to operations, some at a time. */
export async function abuseAll(
  place: AbusedPlace,
  deeds: readonly { readonly request: AbusedRequest; readonly how: Abuse }[],
): Promise<void> {
  const left = [...deeds]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let deed = left.pop(); deed; deed = left.pop())
        await abuse(place, deed.request, deed.how)
    }),
  )
}
