import { useRoute } from 'preact-iso/router'
import { api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Page } from '../../components/page.tsx'
import { Loaded } from '../../components/states.tsx'
import { DefinitionTab } from './definition/definition-tab.tsx'
import { QuarantineTab } from './quarantine/quarantine-tab.tsx'

export function StreamPage() {
  const { params } = useRoute()
  const streamId = params['id'] ?? ''
  const stream = useResource(
    (signal) => api.call('readStream', { path: { streamId }, signal }),
    [streamId],
  )
  return (
    <Loaded of={stream}>
      {(definition) => (
        <Page title={definition.name}>
          {params['tab'] === 'definition' ? (
            <DefinitionTab stream={definition} reload={stream.reload} />
          ) : (
            <QuarantineTab stream={definition} />
          )}
        </Page>
      )}
    </Loaded>
  )
}
