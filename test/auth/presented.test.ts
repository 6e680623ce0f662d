import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { basicKey, bearerToken, isBasic } from '../../src/access/auth/presented.ts'

const anyText = fc.string({ unit: 'grapheme' })
const withoutColon = anyText.filter((text) => !text.includes(':') && text.isWellFormed())

describe('Basic authentication', () => {
  test('has any key without a colon and any secret, colons among them', () => {
    fc.assert(
      fc.property(withoutColon, anyText, (id, secret) => {
        fc.pre(secret.isWellFormed())
        const header = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

        expect(isBasic(header)).toBe(true)
        expect(bearerToken(header)).toBeUndefined()
        expect(basicKey(header)).toEqual({ id, secret })
      }),
    )
  })

  test('of anything else has none, and nothing throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
        ),
        (rest) => {
          const found = basicKey(`Basic ${rest}`)
          if (found === undefined) return
          const text = Buffer.from(rest.trim(), 'base64').toString()
          expect(`${found.id}:${found.secret}`).toBe(text)
        },
      ),
    )
  })
})
