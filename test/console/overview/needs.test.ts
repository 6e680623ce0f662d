import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { furtherNeedsOf } from '../../../console/src/pages/overview/needs.ts'
import type { OverviewFacts } from '../../../console/src/pages/overview/rates.ts'

type Counted = Pick<OverviewFacts, 'alerts' | 'sources' | 'webhooks' | 'quarantine'>

/** As many as there are of each kind, and as many of these as the service lists. */
function factsOf(all: number, listed: number): OverviewFacts {
  const worst = Array.from({ length: Math.min(all, listed) }, () => ({ entries: 1 }))
  const counted = {
    alerts: { firing: { info: 0, warning: 0, critical: all }, acknowledged: 3, worst },
    sources: { failing: all, worst },
    webhooks: { disabled: all, failing: 0, worst },
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
