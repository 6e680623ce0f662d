import { expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService({
  STREAMVAULT_EGRES_ALLOW: 'secret-host:80',
  STREAMVAULT_COLOUR: 'secret-blue',
})

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

test('the page that lists all settings is named where no setting is near', () => {
  expect(service.process.output()).toContain(
    'unknown setting STREAMVAULT_COLOUR: docs/operations.md lists all settings',
  )
  expect(service.process.output()).not.toContain('secret-blue')
})
