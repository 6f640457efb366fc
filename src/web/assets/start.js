// Start-up of the page: shows what needs a script, and activates tables and charts.

function markSectionInView() {
  const links = new Map(Array.from(document.querySelectorAll('nav a'), (link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute('aria-current');
      const link = links.get(entry.target.id);
      if (link) link.setAttribute('aria-current', 'true');
    }
  }, {rootMargin: '0px 0px -75% 0px'});
  for (const section of document.querySelectorAll('main > section')) observer.observe(section);
}

function start() {
  document.documentElement.classList.add('script');
  const data = JSON.parse(document.getElementById('data').textContent);
  const charts = addCharts(data.charts);
  addThemeSwitch(() => charts.drawAll());
  addPrinting(() => charts.drawAll());
  charts.drawAll();
  addTables();
  markSectionInView();
  // For inspection from outside, as by the page's tests.
  window.profline = {charts: charts.drawn, data, functions: {classColours, duration, gapsBetween, laneHeight, palette, pixelShares}};
}

document.addEventListener('DOMContentLoaded', start);
