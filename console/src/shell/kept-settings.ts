import { batch, effect, untracked } from '@preact/signals'
import { api } from '../api/client.ts'
import { facts } from '../api/session.ts'
import { chosenZone, isZone } from '../formats/times.ts'
import { hasShortcuts, theme } from '../settings/appearance.ts'

/** Settings as the service has them; undefined until it has said so. */
let kept: string | undefined
let ofUser: string | undefined

/**
 * Takes over how somebody wants to see the page when they have signed in, and tells the service of each
 * change: the page itself keeps nothing. Without an answer it looks as usual, and nothing is lost.
 */
export function keepSettings(): void {
  effect(() => {
    const userId = facts.value?.user.id
    if (userId === undefined || userId === ofUser) return
    ofUser = userId
    kept = undefined
    void untracked(takeOver)
  })
  effect(() => {
    const settings = {
      theme: theme.value,
      timeZone: chosenZone.value,
      shortcuts: hasShortcuts.value,
    }
    const text = JSON.stringify(settings)
    if (kept === undefined || text === kept) return
    kept = text
    // What could not be told is told with the next change: it holds on this page all the same.
    void api.call('replaceConsoleSettings', { body: settings }).catch(() => undefined)
  })
}

async function takeOver(): Promise<void> {
  try {
    const settings = await api.call('readConsoleSettings')
    // Nothing is told back of what was just heard.
    kept = JSON.stringify(settings)
    batch(() => {
      theme.value = settings.theme
      if (settings.timeZone === 'browser' || isZone(settings.timeZone)) {
        chosenZone.value = settings.timeZone
      }
      hasShortcuts.value = settings.shortcuts
    })
  } catch {
    kept = ''
  }
}
