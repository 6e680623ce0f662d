import { render } from 'preact'
import './styles/layers.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/components.css'
import './styles/forced-colors.css'
import { App } from './app.tsx'
import { keepSettings } from './shell/kept-settings.ts'

const place = document.getElementById('app')
if (place === null) throw new Error('the page has no place for the console')
keepSettings()
render(<App />, place)
