// Economic event codes: Japan.

/** Code to what it means (spec 2.9). */
export const jpEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_ANNUALIZED:
    'Real gross domestic product: growth over the quarter before, as an annual rate.',
  GDP_PRICE_INDEX_YOY: 'Prices of everything that gross domestic product counts: change over a year.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_CORE_YOY:
    'Consumer prices without fresh food, the measure that the Bank of Japan forecasts: change over a year.',
  INFLATION_RATE_CORE_CORE_YOY: 'Consumer prices without fresh food and energy: change over a year.',
  INFLATION_RATE_TOKYO_HEADLINE_YOY:
    "Consumer prices in Tokyo, out weeks before the country's: change over a year.",
  INFLATION_RATE_TOKYO_CORE_YOY: 'Consumer prices in Tokyo without fresh food: change over a year.',
  INFLATION_PPI_HEADLINE_YOY: 'Prices that companies charge each other for goods: change over a year.',
  INFLATION_SERVICES_PPI_YOY: 'Prices that companies charge each other for services: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force that is without work and looks for it.',
  EMPLOYMENT_JOBS_TO_APPLICANTS_RATIO: 'Open jobs for each person who looks for one.',
  EMPLOYMENT_CASH_EARNINGS_YOY: 'Average cash earnings of employees: change over a year.',
  EMPLOYMENT_REAL_WAGES_YOY: 'Average wages after inflation: change over a year.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Retail sales: change over a year.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM: 'Retail sales: change over the month before.',
  CONSUMPTION_HOUSEHOLD_SPENDING_YOY: 'What households spend, after inflation: change over a year.',
  CONSUMPTION_CONSUMER_CONFIDENCE:
    "The Cabinet Office's survey of households; above 50 more are hopeful than not.",
  BUSINESS_TANKAN_LARGE_MANUFACTURERS:
    "The Bank of Japan's quarterly survey (Tankan): large manufacturers who call business good less those who call it bad.",
  BUSINESS_TANKAN_LARGE_NON_MANUFACTURERS:
    "The Bank of Japan's quarterly survey (Tankan): large companies outside manufacturing who call business good less those who call it bad.",
  BUSINESS_TANKAN_LARGE_CAPITAL_SPENDING:
    "The Bank of Japan's quarterly survey (Tankan): how much more large companies plan to invest this year.",
  BUSINESS_PMI_MANUFACTURING_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing, with au Jibun Bank; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in services, with au Jibun Bank; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_ECONOMY_WATCHERS_CURRENT:
    'Survey of people close to business, such as shopkeepers and drivers, on how it is; above 50 it improves.',
  BUSINESS_INDUSTRIAL_PRODUCTION_MOM: 'Output of factories and mines: change over the month before.',
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of factories and mines: change over a year.',
  BUSINESS_MACHINERY_ORDERS_CORE_MOM:
    'Orders of machinery by private companies, without ships and power companies: change over the month before.',
  BUSINESS_MACHINE_TOOL_ORDERS_YOY: 'Orders of machine tools: change over a year.',
  BUSINESS_LEADING_INDEX: "The Cabinet Office's index of leading indicators.",
  HOUSING_STARTS_YOY: 'Homes on which building began: change over a year.',
  TRADE_BALANCE: 'Exports of goods less imports in the month.',
  TRADE_EXPORTS_YOY: 'Exports of goods: change over a year.',
  TRADE_IMPORTS_YOY: 'Imports of goods: change over a year.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the month.',
  BONDS_AUCTION_JGB_10Y: 'Auction of 10-year government bonds: the average accepted yield.',
  BONDS_AUCTION_JGB_30Y: 'Auction of 30-year government bonds: the highest accepted yield.',
  BONDS_FOREIGN_BOND_INVESTMENT: 'Net purchases of foreign bonds by Japanese investors in the week.',
  POLITICAL_EVENT_GENERAL_ELECTION: 'Election of the House of Representatives.',
  POLITICAL_EVENT_UPPER_HOUSE_ELECTION: 'Election of half of the House of Councillors.',
  POLITICAL_EVENT_LEADERSHIP_ELECTION:
    "A governing party's election of its leader, who as a rule becomes Prime Minister.",
  POLITICAL_EVENT_CURRENCY_INTERVENTION:
    'What the Ministry of Finance spent in the foreign exchange market in the month.',
  BOJ_POLICY_INTEREST_RATE_DECISION: "The Bank of Japan's decision on its short-term policy rate.",
  BOJ_POLICY_STATEMENT: 'The statement of the Policy Board on its decision.',
  BOJ_POLICY_OUTLOOK_REPORT: "The Bank of Japan's quarterly forecasts of growth and prices.",
  BOJ_POLICY_PRESS_CONFERENCE: "The Governor's press conference after a decision.",
  BOJ_POLICY_SUMMARY_OF_OPINIONS:
    'What members of the Policy Board said at the last meeting, about a week after it.',
  BOJ_POLICY_MEETING_MINUTES: "Minutes of the Policy Board's meeting before the last one.",
  BOJ_POLICY_MONETARY_BASE_YOY: 'Notes, coins and deposits with the Bank of Japan: change over a year.',
  BOJ_SPEECH_GOVERNOR: 'Speech of the Governor of the Bank of Japan.',
  BOJ_SPEECH_BOARD_MEMBER: 'Speech of another member of the Policy Board.',
};
