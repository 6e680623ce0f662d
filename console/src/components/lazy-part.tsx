import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'
import { api } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { Page } from './page.tsx'
import { Empty, Loaded } from './states.tsx'

/** A page that is loaded when it is first gone to. */
export function lazyPage<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return orElse(load, () => (
    <Page title="This page could not be loaded">
      <PartGone />
    </Page>
  ))
}

/** A part of a page that is loaded when it is first shown. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return orElse(load, PartGone)
}

/** What takes the place of a part has no properties, and overlooks those of the part. */
function orElse<Props>(
  load: () => Promise<ComponentType<Props>>,
  instead: ComponentType,
): ComponentType<Props> {
  return lazy(async () => {
    try {
      return await load()
    } catch {
      return instead as ComponentType<Props>
    }
  })
}

/** An update has other files: those of the page that is open are gone. Or the service was not reached. */
function PartGone() {
  const service = useResource((signal) => api.call('readConsoleSession', { signal }), [])
  return (
    <Loaded of={service} lines={3}>
      {() => (
        <Empty title="Load the page again">
          <p>
            A part of the console could not be loaded: most likely it was updated while this page
            was open. The address stays as it is.
          </p>
          <div class="row">
            <button type="button" class="button primary" onClick={() => location.reload()}>
              Load the page again
            </button>
          </div>
        </Empty>
      )}
    </Loaded>
  )
}
