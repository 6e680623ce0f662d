import { effect, signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Light, dark, or as the system has it. */
export const theme = signal<Theme>('system')

/** Keys that do something by themselves; who dictates or uses other tools turns them off. */
export const hasShortcuts = signal(true)

effect(() => {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset['theme']
  else dataset['theme'] = theme.value
})
