import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AllowedDestinations, allowedDestination } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { notPublic } from '../../src/egress/reserved-names.ts'

/** A machine and name servers that know every name. */
function guard(...allow: readonly string[]): EgressGuard {
  return new EgressGuard({
    allowed: new AllowedDestinations(allow.map(allowedDestination)),
    resolve: async () => ['93.184.215.14'],
    resolveLocally: async () => ['127.0.0.1'],
  })
}

const reserved = [
  'localhost',
  'invalid',
  'test',
  'example',
  '10.in-addr.arpa',
  '16.172.in-addr.arpa',
  '31.172.in-addr.arpa',
  '168.192.in-addr.arpa',
  '254.169.in-addr.arpa',
  '8.e.f.ip6.arpa',
  'b.e.f.ip6.arpa',
  'local',
  'lan',
  'corp',
  'home',
  'intranet',
  'private',
  'internal',
  'onion',
  'home.arpa',
  'alt',
]

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'.split('')
const label = fc
  .string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 12 })
  .map((text) => `a${text}`)

/** Spells a name with letters of either case, and with dots behind it. */
function spelled(name: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.mixedCase(fc.constant(name)), fc.constantFrom('', '.', '..'))
    .map(([text, dots]) => text + dots)
}

test('a name that is kept from public DNS, or one under it, is refused however it is spelled', async () => {
  const names = fc
    .tuple(fc.array(label, { maxLength: 3 }), fc.constantFrom(...reserved))
    .chain(([labels, name]) => spelled([...labels, name].join('.')))
  await fc.assert(
    fc.asyncProperty(names, async (host) => {
      await expect(guard().addressesOf({ host, port: 443 })).rejects.toMatchObject({
        code: 'destination_not_allowed',
      })
    }),
  )
})

test('a name of one label is refused', async () => {
  await fc.assert(
    fc.asyncProperty(label.chain(spelled), async (host) => {
      await expect(guard().addressesOf({ host, port: 443 })).rejects.toMatchObject({
        code: 'destination_not_allowed',
      })
    }),
  )
})

test('any other name is asked for', async () => {
  const names = fc
    .tuple(
      fc.array(fc.oneof(label, fc.constantFrom('localhost', 'local', 'test')), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constantFrom('com', 'io', 'example.com', 'example.net', 'example.org', 'testing', 'dev'),
    )
    .chain(([labels, name]) => spelled([...labels, name].join('.')))
  await fc.assert(
    fc.asyncProperty(names, async (host) => {
      expect(await guard().addressesOf({ host, port: 443 })).toEqual(['93.184.215.14'])
    }),
  )
})

describe('the operator', () => {
  test('can allow such a name, which this machine then looks up', async () => {
    const egress = guard('localhost:8080', 'broker.local:1000-2000', 'kafka:9092')
    for (const [host, port] of [
      ['localhost', 8080],
      ['LOCALHOST.', 8080],
      ['broker.local', 1883],
      ['kafka', 9092],
    ] as const) {
      expect(await egress.addressesOf({ host, port })).toEqual(['127.0.0.1'])
    }
  })

  test('allows it at the ports that were named, and at no other', async () => {
    await expect(guard('localhost:8080').addressesOf({ host: 'localhost', port: 80 }))
      .rejects //
      .toThrow(/names in 'localhost' .*can allow 'localhost:80' in STREAMVAULT_EGRESS_ALLOW/)
  })

  test('does not allow a name by the network that it leads to', async () => {
    await expect(guard('127.0.0.0/8').addressesOf({ host: 'localhost', port: 80 }))
      .rejects //
      .toMatchObject({ code: 'destination_not_allowed' })
  })
})

test('an address is no name', () => {
  for (const address of ['127.0.0.1', '::1', '93.184.215.14', 'fe80::1%lo']) {
    expect(notPublic(address)).toBeUndefined()
  }
})
