import { expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService({ STREAMVAULT_EGRES_ALLOW: 'secret-host:80' })

test('a setting that nobody reads is warned of at the start, without what it holds', () => {
  const lines = service.process
    .output()
    .split('\n')
    .filter((line) => line.includes('STREAMVAULT_EGRES_ALLOW'))
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    {
      level: 40,
      msg: 'unknown setting STREAMVAULT_EGRES_ALLOW (did you mean STREAMVAULT_EGRESS_ALLOW?)',
    },
  ])
  expect(service.process.output()).not.toContain('secret-host')
})
