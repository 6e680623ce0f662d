import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HiddenValues } from '../../connectors/http-client/hidden-values.ts'
import { Subscription } from '../../connectors/web-events/subscription.ts'

const secret = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 30, unit: 'grapheme' }),
    fc
      .array(fc.constantFrom(...Array.from('/?#&=+%;"\'\\<>.:@ aZé€'), '%2e', '$&'), {
        minLength: 6,
        maxLength: 12,
      })
      .map((parts) => parts.join('')),
  )
  .filter((text) => text.isWellFormed() && !text.includes('\0'))

/** The ways in which servers write a text in an address. */
const writers: readonly ((text: string) => string)[] = [
  encodeURIComponent,
  (text) => new URLSearchParams({ '': text }).toString().slice(1),
  (text) =>
    encodeURIComponent(text)
      .toLowerCase()
      .replace(/%[\da-f]{2}/g, (code) => code.toLowerCase()),
  (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
]

describe('the address of another page', () => {
  test('is kept without the secrets in it, however they are written, and is the same again with them', () => {
    fc.assert(
      fc.property(secret, secret, fc.nat({ max: 3 }), (one, other, way) => {
        const hidden = new HiddenValues({ one, other })
        // Letters that are not part of a code are the secret's own.
        const write =
          way === 2 && /[A-Z]/.test(one + other)
            ? encodeURIComponent
            : (writers[way] as typeof encodeURIComponent)
        const url = new URL(`https://a.example/v1/p?page=2&key=x${write(one)}&b=${write(other)}`)

        const kept = hidden.kept(url)

        expect(kept.startsWith('https://a.example/v1/p?page=2&')).toBe(true)
        const shown = new URL(kept).searchParams
        for (const value of [one, other]) {
          expect([...shown.values()].some((text) => text.includes(value))).toBe(false)
        }
        const again = new URL(hidden.whole(kept))
        expect([...again.searchParams]).toEqual([...url.searchParams])
        expect(again.pathname).toBe(url.pathname)
      }),
    )
  })

  test('is shown with names in its path, also where it is cut off', () => {
    const hidden = new HiddenValues({ token: 'hush/hush' })

    expect(hidden.shown(new URL('https://a.example/v1/hush%2Fhush/x?k=1'))).toBe(
      'https://a.example/v1/${token}/x',
    )
  })

  test('stays what it is without secrets', () => {
    const url = new URL('https://a.example:443/a%20b/?q=+%2B&x=${y}#z')

    expect(new HiddenValues().kept(url)).toBe(url.href)
    expect(new HiddenValues().whole('https://a.example/${y}')).toBe('https://a.example/${y}')
  })
})

test('what a server of messages is told has secrets in the places of their names, in one pass', () => {
  const subscription = new Subscription({
    subscribe: [
      { key: '${token}', own: '{token}', after: '{cursor}' },
      'hello ${token} {token} {cursor} ${unknown}',
    ],
    cursorField: 'seq',
    cursorStart: 7,
    credentials: { token: 'to"ken' },
    secrets: { token: 'se"cret {token} {cursor}' },
  })

  expect(subscription.sayings(undefined)).toEqual([
    JSON.stringify({ key: 'se"cret {token} {cursor}', own: 'to"ken', after: 7 }),
    'hello se"cret {token} {cursor} to"ken 7 ${unknown}',
  ])
})
