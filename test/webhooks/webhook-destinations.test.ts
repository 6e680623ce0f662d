import { describe, expect, test } from 'vitest'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { examineUrl } from '../../src/telling/webhooks/webhook-destination.ts'

const publicAddress = '93.184.215.14'

/** Names of others, and where they lead to. */
const names: ReadonlyMap<string, readonly string[]> = new Map([
  ['receiver.example.com', [publicAddress]],
  ['receiver.example.com.', [publicAddress]],
  ['metadata.example.com', ['169.254.169.254']],
  ['metadata6.example.com', ['fd00:ec2::254']],
  ['inside.example.com', ['10.0.0.1']],
  ['inside.example.com.', ['10.0.0.1']],
  ['mixed.example.com', [publicAddress, '192.168.0.1']],
  ['mapped.example.com', ['::ffff:127.0.0.1']],
  ['tunnel.example.com', ['2002:7f00:1::1']],
])

const guard = new EgressGuard({
  allowed: new AllowedDestinations([]),
  resolve: async (name) => names.get(name) ?? [],
  resolveLocally: async () => ['127.0.0.1'],
})

type Octets = readonly [number, number, number, number]

const privateAddresses: readonly Octets[] = [
  [0, 0, 0, 0],
  [10, 1, 2, 3],
  [100, 64, 0, 1],
  [127, 0, 0, 1],
  [169, 254, 169, 254],
  [172, 16, 0, 1],
  [192, 168, 1, 1],
  [198, 18, 0, 1],
  [224, 0, 0, 1],
  [255, 255, 255, 255],
]

function numberOf([first, second, third, fourth]: Octets): number {
  return ((first * 256 + second) * 256 + third) * 256 + fourth
}

function fullWidth(text: string): string {
  return text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
}

/** What browsers and `inet_aton` take for one IPv4 address: https://url.spec.whatwg.org/#concept-ipv4-parser */
function spellings(octets: Octets): readonly string[] {
  const [first, second, third, fourth] = octets
  const plain = octets.join('.')
  return [
    plain,
    `${plain}.`,
    String(numberOf(octets)),
    `0x${numberOf(octets).toString(16)}`,
    `0${numberOf(octets).toString(8)}`,
    octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8).padStart(3, '0')}`).join('.'),
    `${first}.${(second * 256 + third) * 256 + fourth}`,
    `${first}.${second}.${third * 256 + fourth}`,
    // Digits of full width, dots of East Asia, and percent-encoding are the same to a parser of URLs.
    fullWidth(plain),
    plain.replaceAll('.', '\u3002'),
    plain.replace(/^\d/, (digit) => `%3${digit}`),
  ]
}

/** IPv6 addresses that lead to an IPv4 address. */
function tunnels(octets: Octets): readonly string[] {
  const plain = octets.join('.')
  const [high, low] = [numberOf(octets) >>> 16, numberOf(octets) & 0xffff]
  const hex = `${(high >>> 0).toString(16)}:${low.toString(16)}`
  return [
    `[::${plain}]`,
    `[::ffff:${plain}]`,
    `[::ffff:${hex}]`,
    `[0:0:0:0:0:ffff:${hex}]`,
    `[::ffff:0:${plain}]`,
    `[64:ff9b::${plain}]`,
    `[64:ff9b:1::${hex}]`,
    `[2002:${hex}::1]`,
    `[2001:0:${hex}::1]`,
  ]
}

const refusedUrls: readonly string[] = [
  ...privateAddresses.flatMap(spellings).map((host) => `http://${host}/hook`),
  ...privateAddresses.flatMap(tunnels).map((host) => `https://${host}/hook`),
  'http://[::]/',
  'http://[::1]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/latest/meta-data',
  'http://[ff02::1]/',
  'http://[3fff::1]/',
  'http://metadata.example.com/latest/meta-data',
  'http://metadata6.example.com/',
  'https://inside.example.com/',
  'https://inside.example.com./',
  'https://INSIDE.example.com/',
  'https://mixed.example.com/',
  'https://mapped.example.com/',
  'https://tunnel.example.com/',
  'ftp://receiver.example.com/',
  'ws://receiver.example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/plain,x',
  'gopher://receiver.example.com:80/',
  'https://receiver.example.com:22/',
  'https://receiver.example.com:8080/',
  'https://receiver.example.com:8443/',
  'http://receiver.example.com:0/',
  'http://receiver.example.com:65535/',
  'https://ada@receiver.example.com/',
  'https://ada:secret@receiver.example.com/',
  'https://:secret@receiver.example.com/',
  `https://${publicAddress}@127.0.0.1/`,
]

describe('a destination is refused', () => {
  test('in more than 150 ways to write one', () => {
    expect(new Set(refusedUrls).size).toBeGreaterThan(150)
  })

  test.each(refusedUrls)('as %s', async (url) => {
    const { allowed, reason } = await examineUrl(url, guard)
    expect(allowed).toBe(false)
    expect(reason).not.toBe('the name does not resolve')
  })
})

describe('a destination is allowed', () => {
  test.each([
    ...spellings([93, 184, 215, 14]).map((host) => `http://${host}/hook`),
    'https://receiver.example.com/hook',
    'https://receiver.example.com./hook',
    'https://RECEIVER.example.com/hook',
    'https://receiver.example.com:443/hook',
    'http://receiver.example.com:443/hook',
    'https://receiver.example.com:80/hook',
    'https://receiver.example.com/hook?to=http://127.0.0.1/#@10.0.0.1',
  ])('as %s', async (url) => {
    expect(await examineUrl(url, guard)).toEqual({
      allowed: true,
      reason: null,
      remedy: null,
      addresses: [publicAddress],
    })
  })

  test('at registration only, when its name does not resolve', async () => {
    const unknown = await examineUrl('https://nobody.example.com/', guard)
    expect(unknown).toEqual({
      allowed: false,
      reason: 'the name does not resolve',
      remedy: 'Check the spelling of the host in url, and that public DNS has an address for it.',
      addresses: [],
    })
  })
})
