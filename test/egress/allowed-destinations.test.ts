import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AllowedDestinations,
  allowedDestination,
  entryAllowing,
} from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'

function allows(entry: string, host: string, port: number): boolean {
  return new AllowedDestinations([allowedDestination(entry)]).has({ host, port })
}

describe('an entry', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', 1],
    ['10.0.0.0/8', '10.0.0.0', 65_535],
    ['10.0.0.0/8:502', '10.1.2.3', 502],
    ['10.0.0.0/8:500-510', '10.1.2.3', 500],
    ['10.0.0.0/8:500-510', '10.1.2.3', 510],
    ['127.0.0.1/8', '127.255.255.254', 80],
    ['0.0.0.0/0:502', '192.168.7.7', 502],
    ['192.168.1.7/32', '192.168.1.7', 502],
    ['fd00::/8', 'fd12:3456::7', 4840],
    ['[fd00::/8]:4840', 'FD12:3456:0::7', 4840],
    ['[fd00::/8]:4000-5000', 'fdff::1', 4840],
    ['[fd00::/8]', 'fdff::1', 4840],
    ['[::/0]:1', 'fe80::1', 1],
    ['plc-7:1000-2000', 'PLC-7.', 1502],
    ['[::1]:8000-8100', '0::1', 8080],
    ['my_service:80', 'my_service', 80],
    ['bücher.example:80', 'xn--bcher-kva.example', 80],
    ['xn--bcher-kva.example:80', 'BÜCHER.example', 80],
  ])('%s allows %s port %i', (entry, host, port) => {
    expect(allows(entry, host, port)).toBe(true)
  })

  test.each([
    ['10.0.0.0/8:502', '10.1.2.3', 503],
    ['10.0.0.0/8:500-510', '10.1.2.3', 511],
    ['10.0.0.0/8:500-510', '10.1.2.3', 499],
    ['10.0.0.0/8', '11.0.0.0', 80],
    ['10.0.0.0/8', '::ffff:10.0.0.1', 80],
    ['0.0.0.0/0', 'localhost', 80],
    ['0.0.0.0/0', '::1', 80],
    ['::/0', '127.0.0.1', 80],
    ['fe80::/10', 'fe80::1%lo', 80],
    ['plc-7:1000-2000', 'plc-7', 2001],
    ['plc-7:1000-2000', 'plc-70', 1500],
    ['127.0.0.1:80', '127.1', 80],
  ])('%s does not allow %s port %i', (entry, host, port) => {
    expect(allows(entry, host, port)).toBe(false)
  })

  test.each([
    ['*:502', 'asterisk'],
    ['*', 'asterisk'],
    ['*.plant.example:443', 'asterisk'],
    ['10.0.0.*:502', 'asterisk'],
    ['mosquitto', 'no port'],
    ['10.0.0.7', 'no port, such as 10.0.0.7:443'],
    ['::1', 'no port, such as [::1]:443'],
    ['[::1]', 'no port, such as [::1]:443'],
    ['mosquitto:', 'port from 1 to 65535'],
    ['mosquitto:0', 'port from 1 to 65535'],
    ['mosquitto:65536', 'port from 1 to 65535'],
    ['mosquitto:mqtt', 'port from 1 to 65535'],
    ['mosquitto:2000-1000', 'port from 1 to 65535'],
    ['mosquitto:1000-', 'port from 1 to 65535'],
    ['mosquitto:1-2-3', 'port from 1 to 65535'],
    ['10.0.0.0/33', 'not a network'],
    ['10.0.0.0/', 'not a network'],
    ['10.0.0.0/8/8', 'not a network'],
    ['10.0.0.0/8:0', 'port from 1 to 65535'],
    ['fd00::/129', 'not a network'],
    ['fe80::1%lo/10', 'not a network'],
    ['plant/8:80', 'not a network'],
    ['[mosquitto]:80', 'brackets'],
    ['[10.0.0.1]:80', 'brackets'],
    ['[]:80', 'brackets'],
    ['::1:80', 'no port'],
    ['a b:1', 'neither a name nor an address'],
    ['user@host:80', 'neither a name nor an address'],
    ['http://host:80', 'URL'],
    ['mqtt://host', 'URL'],
    ['::/0:1', 'not a network'],
    ['a..b:80', 'neither a name nor an address'],
    ['-a:80', 'neither a name nor an address'],
    [':80', 'neither a name nor an address'],
    ['127.1:80', 'four numbers'],
    ['2130706433:80', 'four numbers'],
    ['0x7f.0.0.1:80', 'four numbers'],
    ['1.2.3.4.5:80', 'four numbers'],
    ['999.0.0.1:80', 'four numbers'],
    ['127.0.0.01:80', 'four numbers'],
  ])('is not written as %s', (entry, reason) => {
    expect(() => allowedDestination(entry)).toThrow(reason)
  })
})

const ports = fc.integer({ min: 1, max: 65_535 })
const labels = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,10}[a-z0-9]$/)
const hosts = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.array(labels, { minLength: 1, maxLength: 4 }).map((all) => all.join('.')),
)

/** Names and addresses lead into the operator's own network, whatever they are. */
function guard(allow: readonly string[]): EgressGuard {
  return new EgressGuard({
    allowed: new AllowedDestinations(allow.map(allowedDestination)),
    resolve: async () => ['10.99.98.97'],
    resolveLocally: async () => ['10.99.98.97'],
  })
}

test('a refusal names the entry that allows the destination, and nothing that a name leads to', async () => {
  await fc.assert(
    fc.asyncProperty(hosts, ports, async (host, port) => {
      const error: unknown = await guard([])
        .addressesOf({ host, port })
        .catch((thrown: unknown) => thrown)
      if (Array.isArray(error)) return
      expect(error).toMatchObject({ code: 'destination_not_allowed' })
      const { message } = error as Error
      expect(message).toContain('STREAMVAULT_EGRESS_ALLOW')
      if (host !== '10.99.98.97') expect(message).not.toContain('10.99.98.97')
      const [, entry = ''] = /can allow '([^']+)'/.exec(message) ?? []
      expect(await guard([entry]).addressesOf({ host, port })).toHaveLength(1)
    }),
  )
})

/** Four numbers of an address of IPv4. */
function text(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join('.')
}

test('an address is in a network exactly when its first bits are those of the network', () => {
  const number = fc.integer({ min: 0, max: 0xff_ff_ff_ff })
  fc.assert(
    fc.property(number, number, fc.integer({ min: 0, max: 32 }), (network, other, bits) => {
      const mask = bits === 0 ? 0 : (0xff_ff_ff_ff << (32 - bits)) >>> 0
      // Half of the addresses are made to lie in the network.
      const address = other % 2 === 0 ? ((network & mask) | (other & ~mask)) >>> 0 : other
      const isIn = (address & mask) >>> 0 === (network & mask) >>> 0
      expect(allows(`${text(network)}/${bits}`, text(address), 80)).toBe(isIn)
    }),
  )
})

test('what cannot be an entry is suggested to nobody', () => {
  for (const host of ['127.1', '%6cocalhost', 'a b', '']) {
    expect(entryAllowing({ host, port: 80 })).toBeUndefined()
  }
})
