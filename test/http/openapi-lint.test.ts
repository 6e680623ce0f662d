import { expect, test } from 'vitest'
import { complaintsAbout } from '../support/description-linter.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

test('the OpenAPI document passes the linter', async () => {
  const document = await (await fetch(`${service.process.http}/openapi.json`)).text()

  expect(await complaintsAbout(document)).toBe('')
})

test('the linter notices what is wrong', async () => {
  const document = await (await fetch(`${service.process.http}/openapi.json`)).text()
  const broken = document.replace('"summary":"Read a vault."', '"summry":"Read a vault."')

  expect(await complaintsAbout(broken)).toContain('summry')
})
