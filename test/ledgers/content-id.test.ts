import { describe, expect, test } from 'vitest'
import { parseCid, rawCidOf } from '../../src/ledgers/proofs/content-id.ts'

const hello = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'

describe('a CID', () => {
  test('of bytes is the one that others give them', async () => {
    expect(await rawCidOf(Buffer.from('hello world'))).toBe(hello)
  })

  test('is taken with what it says', async () => {
    expect(await parseCid(hello)).toEqual({
      cid: hello,
      codec: 'raw',
      sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    })
    expect(
      await parseCid('bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354'),
    ).toMatchObject({ codec: 'dag-pb' })
  })

  test.each([
    ['nothing', '', /begins with b/],
    ['no CID', 'bread', /not a CID/],
    ['too long', `b${'a'.repeat(200)}`, /not more than/],
    ['a CIDv0', 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKcyeP', /CIDv0/],
    ['upper case', hello.toUpperCase(), /begins with b/],
    ['another base', 'zb2rhe5P4gXftAwvA4eXQ5HJwsER2owDyS9sKaQRRVQPn93bA', /begins with b/],
    ['cut off', hello.slice(0, -1), /./],
    ['longer', `${hello}a`, /./],
    [
      'of dag-json',
      'baguqeeraxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq',
      /codec must be raw or dag-pb, not 0x129/,
    ],
    [
      'of SHA-512',
      'bafkrgqbqt3gerhas23vuzrapkdeqf4vu2dwxp3srdj6hvg6nhsug2tgyn6mj3u23yx7utftq3i2ckw2fwdh5qmhid5qf3t35yvkc5e5ottlw6',
      /hash must be SHA-256, not 0x13/,
    ],
    ['of half a hash', 'bafkreefzjut3te2nhyekklss27nh3k72', /SHA-256/],
    [
      'with a number that is longer than it must be',
      'bahkqaeraxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq',
      /not min/,
    ],
  ])('that is %s is refused with a reason', async (_, text, reason) => {
    const parsed = await parseCid(text)
    expect('problem' in parsed && parsed.problem).toMatch(reason)
  })
})
