import { expect, test } from 'vitest'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

test('whoever has given up does not wait for name servers', async () => {
  const asked = Promise.withResolvers<void>()
  const guard = new EgressGuard({
    allowed: new AllowedDestinations([]),
    resolve: async () => {
      asked.resolve()
      return await new Promise(() => undefined)
    },
  })
  const giveUp = new AbortController()
  const dialed = guardedDial(guard)({ host: 'silent.example', port: 1883, signal: giveUp.signal })
  await asked.promise
  giveUp.abort(new Error('given up'))
  await expect(dialed).rejects.toThrow('given up')
})
