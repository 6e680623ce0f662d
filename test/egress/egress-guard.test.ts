import { describe, expect, test } from 'vitest'
import { AllowedDestinations, allowedDestination } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard, type Resolve } from '../../src/egress/egress-guard.ts'

const publicAddress = '93.184.215.14'
const publicAddress6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

interface Setting {
  readonly allow?: readonly string[]
  readonly resolve?: Resolve
  readonly resolveLocally?: Resolve
}

const nowhere: Resolve = async () => []

function guard({ allow = [], resolve = nowhere, resolveLocally = nowhere }: Setting): EgressGuard {
  return new EgressGuard({
    allowed: new AllowedDestinations(allow.map(allowedDestination)),
    resolve,
    resolveLocally,
  })
}

/** The code of the refusal, or the addresses. */
async function verdict(egress: EgressGuard, host: string, port = 1883): Promise<unknown> {
  return await egress
    .addressesOf({ host, port })
    .catch((error: { readonly code: string }) => error.code)
}

const refused = 'destination_not_allowed'

describe('an address', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:93.184.215.14',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:53aa:64c::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '2620:4f:8000::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%lo',
    '2606:2800:21f:cb07:6820:80da:af6b:8b2c%eth0',
    'fec0::1',
    'ff02::1',
  ])('%s may not be connected to', async (address) => {
    expect(await verdict(guard({}), address)).toBe(refused)
  })

  test.each([
    publicAddress,
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '223.255.255.255',
    publicAddress6,
    '2001:200::1',
    '2003::1',
  ])('%s may be', async (address) => {
    expect(await verdict(guard({}), address)).toEqual([address])
  })
})

describe('a name', () => {
  test('is connected to by the addresses that were checked', async () => {
    const egress = guard({ resolve: async () => [publicAddress, publicAddress6] })
    expect(await verdict(egress, 'broker.example.com')).toEqual([publicAddress, publicAddress6])
  })

  test('is refused when any of its addresses is private', async () => {
    const egress = guard({ resolve: async () => [publicAddress, '::ffff:10.0.0.1'] })
    expect(await verdict(egress, 'broker.example.com')).toBe(refused)
  })

  test('that does not resolve has no address', async () => {
    expect(await verdict(guard({}), 'broker.example.com')).toEqual([])
  })

  test('is not asked of this machine, whose files may know private ones', async () => {
    const egress = guard({ resolveLocally: async () => ['127.0.0.1'] })
    expect(await verdict(egress, 'host.example.com')).toEqual([])
  })

  // What getaddrinfo takes for 127.0.0.1.
  test.each(['2130706433', '0x7f.1', '127.1', '017700000001', '0x7f000001', '127.0.0.1.'])(
    '%s is refused, and asked of nobody: it would be another spelling of an address',
    async (name) => {
      const asked: string[] = []
      const egress = guard({
        async resolve(one) {
          asked.push(one)
          return [publicAddress]
        },
      })
      expect(await verdict(egress, name)).toBe(refused)
      expect(asked).toEqual([])
    },
  )
})

describe('an allowed destination', () => {
  test.each([
    ['127.0.0.1:1883', '127.0.0.1', 1883],
    ['[::1]:1883', '::1', 1883],
    ['[::1]:1883', '0:0::1', 1883],
  ])('%s lets %s be connected to', async (allow, host, port) => {
    expect(await verdict(guard({ allow: [allow] }), host, port)).toEqual([host])
  })

  test.each(['mosquitto', 'MOSQUITTO', 'mosquitto.'])('is found as %s', async (host) => {
    const egress = guard({ allow: ['Mosquitto:1883'], resolveLocally: async () => ['10.0.0.7'] })
    expect(await verdict(egress, host)).toEqual(['10.0.0.7'])
  })

  test.each([
    ['another port', '127.0.0.1', 1884],
    ['another address', '127.0.0.2', 1883],
    ['a mapped spelling', '::ffff:127.0.0.1', 1883],
  ])('does not allow %s', async (_, host, port) => {
    expect(await verdict(guard({ allow: ['127.0.0.1:1883'] }), host, port)).toBe(refused)
  })

  test('is also reached by a name that leads to its address', async () => {
    const egress = guard({ allow: ['10.0.0.7:1883'], resolve: async () => ['10.0.0.7'] })
    expect(await verdict(egress, 'broker.example.com')).toEqual(['10.0.0.7'])
    expect(await verdict(egress, 'broker.example.com', 80)).toBe(refused)
  })
})
