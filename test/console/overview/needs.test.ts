import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { furtherNeedsOf } from '../../../console/src/pages/overview/needs.ts'
import type { OverviewFacts } from '../../../console/src/pages/overview/rates.ts'

type Counted = Pick<OverviewFacts, 'alerts' | 'sources' | 'webhooks' | 'quarantine'>

/** Webhooks of which so many are listed, the disabled ones first. */
function webhooksOf(disabled: number, failing: number, listed: number) {
  const worst = [
    ...Array.from({ length: Math.min(disabled, listed) }, () => ({ status: 'DISABLED' })),
    ...Array.from({ length: Math.min(failing, Math.max(0, listed - disabled)) }, () => ({
      status: 'ACTIVE',
    })),
  ]
  return { disabled, failing, worst }
}

/** As many as there are of each kind, and as many of these as the service lists. */
function factsOf(all: number, listed: number): OverviewFacts {
  const worst = Array.from({ length: Math.min(all, listed) }, () => ({ entries: 1 }))
  const counted = {
    alerts: { firing: { info: 0, warning: 0, critical: all }, acknowledged: 3, worst },
    sources: { failing: all, worst },
    webhooks: webhooksOf(all, 0, listed),
    quarantine: { total: all, worst },
  }
  return counted as unknown as Counted as OverviewFacts
}

test('what is not listed is counted, and leads to the whole list', () => {
  fc.assert(
    fc.property(fc.nat(1e6), fc.nat(10), (all, listed) => {
      const left = Math.max(0, all - listed)
      const further = furtherNeedsOf(factsOf(all, listed))
      expect(further.length).toBe(left > 0 ? 4 : 0)
      for (const { text, href } of further) {
        expect(text.replaceAll(',', '')).toMatch(new RegExp(`^${left} more `))
        expect(href).toMatch(/^\/console\//)
      }
    }),
  )
})

/** What is told of webhooks of which five are listed, and where it leads. */
function toWebhooks(disabled: number, failing: number) {
  const facts = { ...factsOf(0, 5), webhooks: webhooksOf(disabled, failing, 5) }
  const further = furtherNeedsOf(facts as unknown as OverviewFacts)
  return Object.fromEntries(further.map(({ text, href }) => [text, href]))
}

test('webhooks that are not listed lead to those that are disabled, and those that fail', () => {
  expect(toWebhooks(7, 1)).toEqual({
    '2 more webhooks disabled': '/console/webhooks?state=disabled',
    '1 more webhook that fails': '/console/webhooks?state=failing',
  })
  expect(toWebhooks(3, 4)).toEqual({
    '2 more webhooks that fail': '/console/webhooks?state=failing',
  })
  expect(toWebhooks(2, 3)).toEqual({})
})
