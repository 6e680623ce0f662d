import { expect, test } from 'vitest'
import { consoleTests } from '../support/console/console-tests.ts'

const at = consoleTests()

test.each(['', '/history', '/status', '/definition', '/access'])(
  'a stream that somebody deletes is told of at %s',
  async (tab) => {
    const streamId = await at.api.createStream()
    const page = await at.signedIn(`/console/streams/${streamId}${tab}`)
    await page.getByRole('link', { name: 'Access' }).waitFor()
    await at.api.withToken('DELETE', `/streams/${streamId}`)

    await page.getByText('This stream is not there any more').waitFor()
    await page.getByRole('link', { name: 'All streams' }).click()
    await page.waitForURL('**/console/streams')
  },
)

test('a state that cannot be asked for is shown as what it was, once', async () => {
  const streamId = await at.api.createStream()
  const page = await at.signedIn(`/console/streams/${streamId}/status`)
  await page.getByText('adds up').waitFor()
  const error = { error: 'internal_error', message: 'something broke', statusCode: 500 }
  await page.route('**/status', (route) => route.fulfill({ status: 500, json: error }))

  await page.getByText('something broke').waitFor()
  expect(await page.getByText(/^As it was/).count()).toBe(1)
  await page.getByText('adds up').waitFor()
})
